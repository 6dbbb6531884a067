import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"

interface DialogProps {
  readonly name: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A form over the page, so that it opens where it was asked for, however long the page is. */
export const Dialog = ({ name, onClose, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="ask" aria-label={name} onClose={onClose}>
      {children}
    </dialog>
  )
}

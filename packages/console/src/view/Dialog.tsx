import type { ComponentChildren, TargetedEvent } from "preact"
import { useEffect, useRef } from "preact/hooks"

interface DialogProps {
  readonly name: string
  readonly onClose: (event: TargetedEvent<HTMLDialogElement>) => void
  readonly children: ComponentChildren
}

/** A form over the page, so that it opens where it was asked for, however long the page is. */
export const Dialog = ({ name, onClose, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    // The browser leads back to the button that asked when a dialog closes, but not when it is removed.
    return () => opened?.close()
  }, [])
  return (
    <dialog ref={dialog} class="ask" aria-label={name} onClose={onClose}>
      {children}
    </dialog>
  )
}

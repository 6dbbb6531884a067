import type { ComponentChildren, TargetedEvent } from "preact"
import { useEffect, useRef } from "preact/hooks"

interface DialogProps {
  readonly name: string
  readonly onClose: (event: TargetedEvent<HTMLDialogElement>) => void
  readonly children: ComponentChildren
}

/** Between a row and its form, and between that and the end of the window. */
const GAP = 8

/** Opens below the row that asked for it or, where there is no room, over it; and so it stays while it grows. */
const openBeside = (asked: Element | null, dialog: HTMLDialogElement | null): void => {
  const row = asked?.closest("li")?.getBoundingClientRect()
  dialog?.showModal()
  if (dialog === null || row === undefined) return
  const place = (): void => {
    const room = window.innerHeight - dialog.offsetHeight - GAP
    dialog.style.marginTop = `${Math.max(GAP, Math.min(row.bottom + GAP, room))}px`
  }
  new ResizeObserver(place).observe(dialog)
}

/** A form over the page, so that it opens where it was asked for, however long the page is. */
export const Dialog = ({ name, onClose, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const asked = document.querySelector<HTMLElement>(":focus")
    openBeside(asked, dialog.current)
    // Browsers lead back to what asked when a dialog closes, but not when it is removed.
    return () => void setTimeout(() => asked?.focus())
  }, [])
  return (
    <dialog
      ref={dialog}
      class="ask"
      aria-label={name}
      // One that was removed closes later, when another may be open.
      onClose={(event) => dialog.current && onClose(event)}
    >
      {children}
    </dialog>
  )
}

import { useEffect, useRef } from "preact/hooks"
import { question } from "../state/confirmation.ts"

const YES = "yes"

/**
 * Asks before an act that cannot be taken back. Escape means no, and so does an end of the page that
 * the question is about.
 */
export const Confirmation = () => {
  const dialog = useRef<HTMLDialogElement>(null)
  const asked = question.value
  useEffect(() => () => question.peek()?.answer(false), [])
  useEffect(() => {
    if (asked === undefined || dialog.current === null) return
    dialog.current.returnValue = ""
    dialog.current.showModal()
  }, [asked])
  if (asked === undefined) return null
  // The browser leads back to the button that asked when a dialog closes, but not when it is removed.
  const close = (answer?: string) => dialog.current?.close(answer)
  return (
    <dialog
      ref={dialog}
      class="ask"
      aria-labelledby="asked"
      onClose={() => asked.answer(dialog.current?.returnValue === YES)}
    >
      <p id="asked">{asked.text}</p>
      <div class="log">
        <button type="button" class={asked.isDanger ? "main danger" : "main"} onClick={() => close(YES)}>
          {asked.goAhead}
        </button>
        <button type="button" class="quiet" onClick={() => close()}>
          Cancel
        </button>
      </div>
    </dialog>
  )
}

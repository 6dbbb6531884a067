import { useEffect, useRef } from "preact/hooks"
import { question } from "../state/confirmation.ts"

/** Asks before an act that cannot be taken back. Escape means no. */
export const Confirmation = () => {
  const dialog = useRef<HTMLDialogElement>(null)
  const asked = question.value
  useEffect(() => {
    if (asked !== undefined) dialog.current?.showModal()
  }, [asked])
  if (asked === undefined) return null
  return (
    <dialog ref={dialog} class="ask" aria-labelledby="asked" onClose={() => asked.answer(false)}>
      <p id="asked">{asked.text}</p>
      <div class="acts">
        <button
          type="button"
          class={asked.isDanger ? "main danger" : "main"}
          onClick={() => asked.answer(true)}
        >
          {asked.goAhead}
        </button>
        <button type="button" class="quiet" onClick={() => asked.answer(false)}>
          Cancel
        </button>
      </div>
    </dialog>
  )
}

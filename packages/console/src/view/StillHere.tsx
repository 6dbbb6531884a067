import { useRef } from "preact/hooks"
import { isWaiting } from "../state/drafts.ts"
import { changedText, STILL_HERE } from "./formFault.ts"

interface StillHereProps {
  readonly form: string
  /** Empties a form that has no *Cancel*. */
  readonly discards?: (() => unknown) | undefined
  /** Changes of others meanwhile. */
  readonly changed?: string
}

/** Says that texts waited for a form, and what they would replace. */
export const StillHere = ({ changed = "", discards, form }: StillHereProps) => {
  const waits = isWaiting(form)
  const waited = useRef(waits)
  waited.current &&= waits
  if (!waited.current && changed === "") return null
  return (
    <p class="lead">
      {changed === "" ? `${STILL_HERE}.` : changedText(changed)}{" "}
      {discards && (
        <button type="button" class="quiet" onClick={() => void discards()}>
          Discard
        </button>
      )}
    </p>
  )
}

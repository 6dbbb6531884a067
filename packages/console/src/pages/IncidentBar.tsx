import { numberText } from "../format/times.ts"
import { acknowledge } from "../state/incidentActions.ts"
import { focusedId, go } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { type Selection, selectionText } from "../state/selection.ts"
import { mayRespond } from "../state/session.ts"
import { act, type Message } from "../state/useAction.ts"
import { ActionButton } from "../view/ActionButton.tsx"
import { useKeys } from "../view/Keyboard.tsx"
import { type Pick, select, selectedIds } from "../view/usePick.ts"

const silence = (ids: Selection): void => go(linkTo("silences", [], { incidents: selectionText(ids) }))

/** Acknowledges incidents of the list, and selects them no longer. */
const acknowledgeAll = async (ids: Selection): Promise<Message | undefined> => {
  const done = await acknowledge(ids)
  if (done !== undefined) select([])
  return done
}

/** What to do with the selected incidents. */
export const IncidentBar = () => {
  const selected = selectedIds()
  if (selected.length === 0 || !mayRespond.value) return null
  return (
    <div class="bar">
      <span role="status">{numberText(selected.length)} selected</span>
      <ActionButton kind="main" does={() => acknowledgeAll(selected)}>
        Acknowledge
      </ActionButton>
      <button type="button" class="quiet" onClick={() => silence(selected)}>
        Silence
      </button>
      <button type="button" class="quiet" onClick={() => select([])}>
        Clear
      </button>
    </div>
  )
}

/** The keys of the list of incidents. */
export const useIncidentKeys = (pick: Pick): void => {
  useKeys((command) => {
    const selected = selectedIds()
    const id = focusedId()
    const chosen = selected.length > 0 ? selected : id === undefined ? [] : [id]
    if (command === "back" && selected.length > 0) select([])
    if (id !== undefined && mayRespond.value && (command === "select" || command === "selectRange"))
      pick(id, command === "selectRange")
    if (command === "explain" && id !== undefined) go(linkTo("incidents", [id], { focus: "explain" }))
    if (chosen.length === 0 || !mayRespond.value) return
    if (command === "acknowledge") void act(() => acknowledgeAll(chosen))
    if (command === "silence") silence(chosen)
    if (command === "note" && id !== undefined) go(linkTo("incidents", [id], { focus: "note" }))
  })
}

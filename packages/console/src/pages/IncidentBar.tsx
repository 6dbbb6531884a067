import { countText, numberText } from "../format/times.ts"
import { acknowledge } from "../state/incidentActs.ts"
import { go } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { type Selection, selectionText } from "../state/selection.ts"
import { mayRespond } from "../state/session.ts"
import { act } from "../state/useAct.ts"
import { ActButton } from "../view/ActButton.tsx"
import { useKeys } from "../view/Keyboard.tsx"
import { focusedId, type Pick, select, selectedIds } from "../view/usePick.ts"

const silence = (ids: Selection): void => go(linkTo("silences", [], { incidents: selectionText(ids) }))

/** Above so many, a click by mistake would hide much. */
const MANY = 10

/** What to do with the selected incidents. */
export const IncidentBar = () => {
  const selected = selectedIds()
  if (selected.length === 0 || !mayRespond.value) return null
  const all = countText(selected.length, "incident")
  return (
    <div class="bar">
      <span role="status">{numberText(selected.length)} selected</span>
      <ActButton
        kind="main"
        confirms={
          selected.length > MANY ? [`Acknowledge ${all}?`, `Acknowledge all ${selected.length}`] : undefined
        }
        does={async () => {
          const done = await acknowledge(selected)
          select([])
          return done
        }}
      >
        Acknowledge
      </ActButton>
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
    if (command === "acknowledge") void act(() => acknowledge(chosen)).then((isDone) => isDone && select([]))
    if (command === "silence") silence(chosen)
    if (command === "note" && id !== undefined) go(linkTo("incidents", [id], { focus: "note" }))
  })
}

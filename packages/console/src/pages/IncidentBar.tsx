import { useSignal } from "@preact/signals"
import type { HeldIncident } from "@tocsin/client"
import { countText, numberText } from "../format/times.ts"
import { acknowledge } from "../state/incidentActs.ts"
import { go, route, setParameters } from "../state/location.ts"
import { itemsOf, type Pages } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { parseSelection, type Selection, selectionText, toggled, withRange } from "../state/selection.ts"
import { mayRespond } from "../state/session.ts"
import { act } from "../state/useAct.ts"
import { ActButton } from "../view/ActButton.tsx"
import { useKeys } from "../view/Keyboard.tsx"

const select = (ids: Selection): void => setParameters({ selected: selectionText(ids) })

const silence = (ids: Selection): void => go(linkTo("silences", [], { incidents: selectionText(ids) }))

/** Above so many, a click by mistake would hide much. */
const MANY = 10

/** What to do with the selected incidents. */
export const IncidentBar = () => {
  const selected = parseSelection(route.value.parameters["selected"])
  if (selected.length === 0) return null
  const all = countText(selected.length, "incident")
  return (
    <div class="bar">
      <span role="status">{numberText(selected.length)} selected</span>
      {mayRespond.value && (
        <>
          <ActButton
            kind="main"
            confirms={
              selected.length > MANY
                ? [`Acknowledge ${all}?`, `Acknowledge all ${selected.length}`]
                : undefined
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
        </>
      )}
      <button type="button" class="quiet" onClick={() => select([])}>
        Clear
      </button>
    </div>
  )
}

const focusedId = (): string | undefined =>
  document.activeElement?.closest<HTMLElement>("[data-id]")?.dataset["id"]

/** The keys of the list of incidents. */
export const useIncidentKeys = (pages: Pages<HeldIncident>): void => {
  const last = useSignal("")
  useKeys((command) => {
    const selected = parseSelection(route.value.parameters["selected"])
    const id = focusedId()
    const chosen = selected.length > 0 ? selected : id === undefined ? [] : [id]
    if (command === "back" && selected.length > 0) select([])
    if (id !== undefined && command === "select") {
      last.value = id
      select(toggled(selected, id))
    }
    if (id !== undefined && command === "selectRange") {
      const ids = itemsOf(pages).map((item) => item.id)
      select(withRange(selected, ids, last.value, id))
      last.value = id
    }
    if (command === "explain" && id !== undefined) go(linkTo("incidents", [id], { focus: "explain" }))
    if (chosen.length === 0 || !mayRespond.value) return
    if (command === "acknowledge") void act(() => acknowledge(chosen)).then((isDone) => isDone && select([]))
    if (command === "silence") silence(chosen)
    if (command === "note" && id !== undefined) go(linkTo("incidents", [id], { focus: "note" }))
  })
}

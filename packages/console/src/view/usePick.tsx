import { useCallback, useRef } from "preact/hooks"
import { route, setParameters } from "../state/location.ts"
import { parseSelection, type Selection, selectionText, toggled, withRange } from "../state/selection.ts"

/** The selected rows, as the address has them. */
export const selectedIds = (): Selection => parseSelection(route.value.parameters["selected"])

/** Selects exactly these rows. */
export const select = (ids: Selection): void => setParameters({ selected: selectionText(ids) })

/** Selects a row, or all rows from the last selected one to it. */
export type Pick = (id: string, isRange: boolean) => void

/** Selects rows of a list; the function stays the same, so that no row is drawn again for it. */
export const usePick = (ids: () => ReadonlyArray<string>): Pick => {
  const latest = useRef(ids)
  latest.current = ids
  const last = useRef("")
  return useCallback((id, isRange) => {
    const selected = selectedIds()
    select(isRange ? withRange(selected, latest.current(), last.current, id) : toggled(selected, id))
    last.current = id
  }, [])
}

/** The box that selects a row, or with Shift all rows up to it. */
export const SelectBox = ({
  id,
  name,
  pick,
}: {
  readonly id: string
  readonly name: string
  readonly pick: Pick
}) => (
  <input
    type="checkbox"
    aria-label={`Select ${name}`}
    checked={selectedIds().includes(id)}
    onClick={(event) => pick(id, event.shiftKey)}
  />
)

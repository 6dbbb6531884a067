import type { ReadonlySignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useMemo, useRef } from "preact/hooks"
import { numberText } from "../format/times.ts"
import { focusedId, route, setParameters } from "../state/location.ts"
import { itemsOf } from "../state/Pages.ts"
import {
  MOST_SELECTED,
  parseSelection,
  type Selection,
  selectionText,
  toggled,
  withRange,
} from "../state/Route.ts"
import { QuietButton } from "./forms.tsx"
import { type PageCommand, useKeys } from "./Keyboard.tsx"
import { column, type Column } from "./Listing.tsx"
import type { Listed } from "./usePages.ts"

/** The selected rows, as the address has them. */
export const selectedIds = (): Selection => parseSelection(route.value.parameters["selected"])

export const select = (ids: Selection): void => setParameters({ selected: selectionText(ids) })

interface Selecting<Item> {
  /** Whether the reader may act on rows, and so select them. */
  readonly isOffered: ReadonlySignal<boolean>
  readonly lists: ReadonlyArray<Listed<Item>>
  readonly idOf: (item: Item) => string
  readonly nameOf: (item: Item) => string
  /** The act of other keys on the selected rows and the one with the focus. */
  readonly does?: (command: PageCommand, selected: Selection, focused: string | undefined) => void
}

/**
 * The column of boxes that select rows, or with Shift all rows from the last one; keys do it too. It
 * stays the same, so that no row is drawn again for it.
 */
export const useSelecting = <Item,>(selecting: Selecting<Item>): Column<Item> => {
  const latest = useRef(selecting)
  latest.current = selecting
  const last = useRef("")
  const pick = (id: string, isRange: boolean): void => {
    const { idOf, lists } = latest.current
    const [selected, ids] = [selectedIds(), lists.flatMap(({ pages }) => itemsOf(pages)).map(idOf)]
    select(isRange ? withRange(selected, ids, last.current, id) : toggled(selected, id))
    last.current = id
  }
  useKeys((command) => {
    const [selected, id] = [selectedIds(), focusedId()]
    if (command === "back" && selected.length > 0) select([])
    if (id !== undefined && selecting.isOffered.value && (command === "select" || command === "selectRange"))
      pick(id, command === "selectRange")
    selecting.does?.(command, selected, id)
  })
  return useMemo(() => {
    const { idOf, isOffered, nameOf } = selecting
    return column<Item>(
      (items) => isOffered.value && <SelectAll ids={items.map(idOf)} />,
      "1.15rem",
      (item) => isOffered.value && <SelectBox id={idOf(item)} name={nameOf(item)} pick={pick} />,
    )
  }, [])
}

interface SelectionBarProps {
  readonly isOffered: ReadonlySignal<boolean>
  readonly children: (selected: Selection) => ComponentChildren
}

/** The acts on the selected rows, if any are. */
export const SelectionBar = ({ isOffered, children }: SelectionBarProps) => {
  const selected = selectedIds()
  if (selected.length === 0 || !isOffered.value) return null
  return (
    <div class="bar">
      <span role="status">{numberText(selected.length)} selected</span>
      {children(selected)}
      <QuietButton does={() => select([])}>Clear</QuietButton>
    </div>
  )
}

const SelectAll = ({ ids }: { readonly ids: ReadonlyArray<string> }) => (
  <input
    type="checkbox"
    aria-label="Select all"
    checked={ids.length > 0 && ids.every((id) => selectedIds().includes(id))}
    onClick={({ currentTarget }) => select(currentTarget.checked ? ids.slice(0, MOST_SELECTED) : [])}
  />
)

interface SelectBoxProps {
  readonly id: string
  readonly name: string
  readonly pick: (id: string, isRange: boolean) => void
}

const SelectBox = ({ id, name, pick }: SelectBoxProps) => (
  <input
    type="checkbox"
    aria-label={`Select ${name}`}
    checked={selectedIds().includes(id)}
    onClick={(event) => pick(id, event.shiftKey)}
  />
)

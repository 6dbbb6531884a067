import { computed, type ReadonlySignal } from "@preact/signals"
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
import { carryOut, type PageCommand, useKeys } from "./Keyboard.tsx"
import { column, type Column, width } from "./Listing.tsx"
import type { Listed } from "./usePages.ts"

const selection = computed(() => parseSelection(route.value.parameters["selected"]))
const selectedSet = computed(() => new Set(selection.value))

/** The selected rows, as the address has them. */
export const selectedIds = (): Selection => selection.value

export const select = (ids: Selection): void => setParameters({ selected: selectionText(ids) })

interface Selecting<Item> {
  /** Whether the reader may act on rows, and so select them. */
  readonly isOffered: ReadonlySignal<boolean>
  /** The first is the one whose heads have the box that selects all. */
  readonly lists: readonly [Listed<Item>, ...ReadonlyArray<Listed<Item>>]
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
    if (command === "selectAll") selectAll(itemsOf(selecting.lists[0].pages).map(selecting.idOf))
    if (id !== undefined && selecting.isOffered.value && (command === "select" || command === "selectRange"))
      pick(id, command === "selectRange")
    selecting.does?.(command, selected, id)
  })
  return useMemo(() => {
    const { idOf, isOffered } = selecting
    // A name says more once another row has the same title.
    const nameOf = (item: Item): string => latest.current.nameOf(item)
    return column<Item>(
      (items) => isOffered.value && <SelectAll items={items} idOf={idOf} />,
      "1.15rem",
      (item) => isOffered.value && <SelectBox id={idOf(item)} name={nameOf(item)} pick={pick} />,
    )
  }, [])
}

interface SelectionBarProps {
  readonly isOffered: ReadonlySignal<boolean>
  readonly children: (selected: Selection) => ComponentChildren
}

export const SelectionBar = ({ isOffered, children }: SelectionBarProps) => {
  const selected = selectedIds()
  if (selected.length === 0 || !isOffered.value) return null
  return (
    <div class="bar">
      <span role="status">
        {numberText(selected.length)} selected{selected.length >= MOST_SELECTED && ", the most"}
      </span>
      <SelectAllButton />
      {children(selected)}
      <QuietButton does={() => select([])}>Clear</QuietButton>
    </div>
  )
}

const selectAll = (ids: Selection): void => select(ids.slice(0, MOST_SELECTED))

/** On a narrow screen, lists have no heads. */
export const SelectAllButton = () =>
  width.value === "narrow" ? <QuietButton does={() => carryOut("selectAll")}>Select all</QuietButton> : null

interface SelectAllProps<Item> extends Pick<Selecting<Item>, "idOf"> {
  readonly items: ReadonlyArray<Item>
}

const SelectAll = <Item,>({ idOf, items }: SelectAllProps<Item>) => {
  const selected = selectedSet.value
  const count = selected.size === 0 ? 0 : items.filter((item) => selected.has(idOf(item))).length
  return (
    <input
      type="checkbox"
      aria-label="Select all"
      checked={count > 0 && count === items.length}
      indeterminate={count > 0 && count < items.length}
      onClick={({ currentTarget }) => selectAll(currentTarget.checked ? items.map(idOf) : [])}
    />
  )
}

interface SelectBoxProps {
  readonly id: string
  readonly name: string
  readonly pick: (id: string, isRange: boolean) => void
}

/** Of many boxes, only those that change are drawn. */
const SelectBox = ({ id, name, pick }: SelectBoxProps) => {
  const isOn = useMemo(() => computed(() => selectedSet.value.has(id)), [id])
  return (
    <input
      type="checkbox"
      aria-label={`Select ${name}`}
      checked={isOn}
      onClick={(event) => pick(id, event.shiftKey)}
    />
  )
}

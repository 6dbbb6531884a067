import { useSignal } from "@preact/signals"
import { type ComponentChildren, createContext } from "preact"
import { useContext, useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { numberText } from "../format/times.ts"
import { ReadingNote } from "./states.tsx"
import type { Reading } from "./usePages.ts"

/** Takes note of what each part of a wall last read. Without it, parts are those of the overview. */
export const OnWall = createContext<((title: string, reading: Reading<unknown>) => void) | undefined>(
  undefined,
)

/** More rows than a wall has room for. */
const MOST_ON_WALL = 40
/** So few rows of a wall have more room each. */
const FEW = 3
/** Heights of rows are rounded to parts of a pixel. */
const ROUNDED = 0.05

/** Of how many rows a part is read: a few on the overview, and on a wall all that may have room. */
export const useMost = (few: number): number =>
  useContext(OnWall) === undefined ? few : Math.max(few, MOST_ON_WALL)

interface RowsProps<Item> {
  readonly items: ReadonlyArray<Item>
  /** How many there are, read or not. */
  readonly total: number
  readonly hasMore?: boolean | undefined
  readonly row: (item: Item) => ComponentChildren
  /** The columns of its rows on a wide screen. */
  readonly columns: string
}

/** As many rows as there is room for and, in half the height of one, a count of the others. */
const FittingRows = <Item,>({ items, total, hasMore = false, row, columns }: RowsProps<Item>) => {
  const list = useRef<HTMLUListElement>(null)
  const room = useSignal(0)
  useLayoutEffect(() => {
    const { current } = list
    if (current === null) return undefined
    const measure = () =>
      void (room.value = current.clientHeight / Number.parseFloat(getComputedStyle(current).gridAutoRows))
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [total <= FEW])
  const fits = (rows: number): number => Math.max(0, Math.floor(rows + ROUNDED))
  const isWhole = total <= fits(room.value) && !hasMore
  const shown = isWhole ? items : items.slice(0, fits(room.value - 0.5))
  return (
    <ul class="plain" ref={list} style={{ "--columns": columns }}>
      {shown.map(row)}
      {!isWhole && (
        <li class="row rest">
          and {hasMore && "at least "}
          {numberText(total - shown.length)} more
        </li>
      )}
    </ul>
  )
}

interface PartProps<Item> extends Omit<RowsProps<Item>, "items" | "total"> {
  readonly title: string
  /** The page that has all of it. */
  readonly to: string
  readonly reading: Reading<unknown>
  readonly items: ReadonlyArray<Item> | undefined
  readonly total?: number | undefined
  readonly empty: ComponentChildren
}

/** A part of a glance: its first rows, below a heading that leads to its page. */
export const Part = <Item,>(props: PartProps<Item>) => {
  const { title, to, reading, items = [], row, columns, empty, hasMore, total = items.length } = props
  const note = useContext(OnWall)
  useEffect(() => note?.(title, reading), [reading.revision, reading.failure])
  const count = Math.max(total, items.length)
  return (
    <section
      class={count > FEW ? "part" : "part few"}
      aria-label={title}
      style={{ "--count": Math.min(count, MOST_ON_WALL) }}
    >
      <h2>
        <a href={to}>{title}</a>
      </h2>
      {note === undefined && <ReadingNote reading={reading} />}
      {items.length === 0 && reading.value !== undefined && <p class="lead nothing">{empty}</p>}
      {note === undefined ? (
        <ul class="plain" style={{ "--columns": columns }}>
          {items.map(row)}
        </ul>
      ) : (
        <FittingRows items={items} total={count} hasMore={hasMore} row={row} columns={columns} />
      )}
    </section>
  )
}

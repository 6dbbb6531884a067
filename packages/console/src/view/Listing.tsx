import { signal, useSignal } from "@preact/signals"
import type { ComponentChildren, VNode } from "preact"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import type { ApiFailure } from "../api/ApiFailure.ts"
import { type Pages, pagesInSight, rowCount, rowsBetween } from "../state/Pages.ts"
import { takePlace } from "../state/location.ts"
import { linkOf } from "./Keyboard.tsx"
import { ReadingNote } from "./states.tsx"

interface RowsProps<Item> {
  readonly label: string
  readonly pages: Pages<Item>
  readonly see: (first: number, last: number) => void
  readonly keyOf: (item: Item) => string
  readonly size?: RowSize | undefined
  /** Draws a row. Rows are kept while scrolling: a function that is another one draws all of them again. */
  readonly children: (item: Item) => ComponentChildren
}

/** Rows beyond the ones in sight, so that a quick scroll shows no gap. */
const AROUND = 8

const NARROW = window.matchMedia("(max-width: 59.99rem)")
const MEDIUM = window.matchMedia("(max-width: 79.99rem)")

const currentWidth = () => (NARROW.matches ? "narrow" : MEDIUM.matches ? "medium" : "wide")

/** How much room rows have: that of one, two or many columns. */
export const width = signal<ReturnType<typeof currentWidth>>(currentWidth())
window.addEventListener("resize", () => (width.value = currentWidth()))

/** Heights of rows by the size of the root's text, for the lines that they have in the style sheet. */
const ROW_HEIGHTS = {
  plain: { wide: 2.35, narrow: 5.4 },
  /** Three lines on a narrow screen. */
  incident: { wide: 2.35, narrow: 5.4 },
  /** Four lines on a narrow screen, instead of three. */
  tall: { wide: 2.35, narrow: 7 },
  /** Two lines of cells below the name. */
  grid: { wide: 2.35, narrow: 6.4 },
  /** And two on a wide one. */
  double: { wide: 3.6, narrow: 7 },
}
type RowSize = keyof typeof ROW_HEIGHTS

const rootSize = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize)

/** A row as it was drawn. As long as nothing in it changes, it is neither drawn nor compared again. */
interface Drawn {
  readonly of: ReadonlyArray<unknown>
  readonly element: VNode
}

/** Draws the rows in sight; those in which nothing has changed keep their elements. */
const draw = <Item,>(
  { pages, keyOf, children }: RowsProps<Item>,
  range: readonly [first: number, last: number],
  height: number,
  before: ReadonlyMap<string, Drawn>,
): ReadonlyMap<string, Drawn> => {
  const setSize = pages.next === null ? rowCount(pages) : -1
  const drawn = new Map<string, Drawn>()
  for (const { row, item } of rowsBetween(pages, ...range)) {
    const known = item === undefined ? `row ${row}` : keyOf(item)
    // While a list changes, two of its pages may have the same item.
    const key = drawn.has(known) ? `row ${row}` : known
    const of = [row, item, children, height, setSize]
    const former = before.get(key)
    const isSame = former?.of.every((part, index) => part === of[index]) === true
    const style = { top: `${row * height}px`, height: `${height}px` }
    const element = () => (
      <li key={key} aria-setsize={setSize} aria-posinset={row + 1} style={style}>
        {item === undefined ? <span class="ghost" /> : children(item)}
      </li>
    )
    drawn.set(key, isSame ? former : { of, element: element() })
  }
  return drawn
}

/** A list of any length, of which only the rows in sight are elements. The window scrolls it. */
const Rows = <Item,>(props: RowsProps<Item>) => {
  const { label, pages, see, size = "plain" } = props
  const rowHeight = () => ROW_HEIGHTS[size][width.peek() === "narrow" ? "narrow" : "wide"] * rootSize()
  const list = useRef<HTMLUListElement>(null)
  const left = useRef<string | undefined>(undefined)
  const height = useSignal(rowHeight())
  const range = useSignal<readonly [first: number, last: number]>([
    0,
    Math.ceil(window.innerHeight / height.peek()),
  ])
  const drawn = useRef<ReadonlyMap<string, Drawn>>(new Map())
  const count = rowCount(pages)
  const look = () => {
    const top = list.current?.getBoundingClientRect().top ?? 0
    const first = Math.max(0, Math.floor(-top / height.peek()) - AROUND)
    const last = Math.ceil((window.innerHeight - top) / height.peek()) + AROUND
    const [a, b] = range.peek()
    if (a !== first || b !== last) range.value = [first, last]
  }
  useEffect(() => {
    const measure = () => {
      height.value = rowHeight()
      look()
    }
    window.addEventListener("scroll", look, { passive: true })
    window.addEventListener("resize", measure)
    return () => {
      window.removeEventListener("scroll", look)
      window.removeEventListener("resize", measure)
    }
  }, [])
  // From the first frame on, a list that the reader goes back to stands where it was left.
  useLayoutEffect(() => {
    const { top, row } = takePlace()
    left.current = row
    if (top >= 0 || list.current === null) return
    window.scrollBy(0, list.current.getBoundingClientRect().top - top)
    look()
  }, [])
  // The row that the reader left comes with the answer. Keys go on from there, unless they are elsewhere by then.
  useEffect(() => {
    if (left.current === undefined || document.activeElement?.matches("body, main") !== true) return
    const row = list.current?.querySelector(`[data-id="${CSS.escape(left.current)}"]`) ?? undefined
    if (row === undefined) return
    left.current = undefined
    linkOf(row)?.focus({ preventScroll: true })
  })
  // After the frame, in which the browser has found out where the list stands.
  useEffect(look, [count])
  const [first, last] = range.value
  useEffect(() => see(...pagesInSight(pages, first, last)), [first, last, count, pages.next])
  drawn.current = draw(props, range.value, height.value, drawn.current)
  return (
    <ul ref={list} class="rows" aria-label={label} style={{ height: `${count * height.value}px` }}>
      {Array.from(drawn.current.values(), ({ element }) => element)}
    </ul>
  )
}

interface ListingProps<Item> {
  readonly label: string
  /** The kind of its rows, which the style sheet gives columns, and the heads of these. */
  readonly kind?: string
  readonly heads?: ReadonlyArray<ComponentChildren>
  readonly listed: {
    readonly key: string
    readonly pages: Pages<Item>
    readonly failure: ApiFailure | undefined
    readonly see: (first: number, last: number) => void
  }
  readonly keyOf: (item: Item) => string
  /** See {@link Rows}. */
  readonly size?: RowSize
  /** Shown instead of a list without items. */
  readonly empty: ComponentChildren
  readonly children: (item: Item) => ComponentChildren
}

/** A list in the state of its reading, empty or as rows. */
export const Listing = <Item,>({
  label,
  kind = "",
  heads = [],
  listed,
  keyOf,
  size,
  empty,
  children,
}: ListingProps<Item>) => {
  const { key, pages, failure, see } = listed
  const isEmpty = rowCount(pages) === 0
  const isRead = !isEmpty || pages.next === null
  return (
    <>
      <ReadingNote reading={{ value: isRead ? pages : undefined, failure }} />
      {isEmpty && isRead && empty}
      {!isEmpty && heads.length > 0 && (
        <div class={`row heads ${kind}`}>
          {heads.map((head, place) => (
            <span key={place}>{head}</span>
          ))}
        </div>
      )}
      <Rows key={key} label={label} pages={pages} see={see} keyOf={keyOf} size={size}>
        {children}
      </Rows>
    </>
  )
}

import { computed, signal, untracked, useSignalEffect } from "@preact/signals"
import { type ComponentChildren, Fragment } from "preact"
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { numberText } from "../format/times.ts"
import { matching } from "../state/browser.ts"
import { takePlace } from "../state/location.ts"
import { groupsOf, itemsOf, pagesInSight, rowCount, rowsBetween } from "../state/Pages.ts"
import { aim } from "../state/revisions.ts"
import { me } from "../state/session.ts"
import { linkOf } from "./Keyboard.tsx"
import { useInSteps, useWhole } from "./rowSteps.ts"
import { type Hidden, type Range, useSight } from "./sight.ts"
import { SortHead } from "./SortHead.tsx"
import { ReadingNote } from "./states.tsx"
import type { Listed } from "./usePages.ts"

const isNarrow = matching("(max-width: 59.99rem)")
const isMedium = matching("(max-width: 79.99rem)")
const currentWidth = () => (isNarrow() ? "narrow" : isMedium() ? "medium" : "wide")

/** How much room rows have: that of one, two or many columns. */
export const width = signal<ReturnType<typeof currentWidth>>(currentWidth())

const rootSize = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize)

window.addEventListener("resize", () => (width.value = currentWidth()))

/** Heights of rows by the size of the root's text, for the lines that they have in the style sheet. */
const ROW_HEIGHTS = {
  /** Three lines on a narrow screen. */
  plain: { wide: 2.35, narrow: 5.4 },
  /** Four lines on a narrow screen. */
  tall: { wide: 2.35, narrow: 7 },
  /** A line of cells below the name. */
  grid: { wide: 2.35, narrow: 4.4 },
  /** Six lines on a narrow screen, and two on a wide one. */
  named: { wide: 3.9, narrow: 9.2 },
  /** Seven lines on a narrow screen, and two on a wide one. */
  watch: { wide: 3.9, narrow: 10.4 },
  /** Four lines on a narrow screen, and two on a wide one. */
  double: { wide: 3.6, narrow: 7 },
}

export interface Column<Item> {
  /** Its head, which may depend on the rows that were read. */
  readonly head: string | ((items: ReadonlyArray<Item>) => ComponentChildren)
  /** On a wide screen: its share of the room that is left, or as CSS writes it. */
  readonly room: number | string
  readonly cell: (item: Item, hidden: Hidden) => ComponentChildren
  /** The name of the order that its head gives the list. */
  readonly sort?: string | undefined
}

export const column = <Item,>(
  head: Column<Item>["head"],
  room: Column<Item>["room"],
  cell: Column<Item>["cell"],
  sort?: string,
): Column<Item> => ({ head, room, cell, sort })

export type Columns<Item> = ReadonlyArray<Column<Item>>

interface ListingProps<Item> {
  readonly label: string
  /** The kind of its rows, for which the style sheet has the layout on a narrow screen. */
  readonly kind: string
  /** Another array than before draws all rows again. */
  readonly columns: Columns<Item>
  /** Whether the columns have no heads, because a list above has them. */
  readonly isHeadless?: boolean
  readonly listed: Listed<Item>
  readonly keyOf: (item: Item) => string
  readonly size?: keyof typeof ROW_HEIGHTS
  readonly empty: ComponentChildren
}

/** The style of a list by which its rows and their heads have the same columns. */
const styleOf = <Item,>(columns: Columns<Item>) => ({
  "--columns": columns
    .map(({ room }) => (typeof room === "number" ? `minmax(0, ${room}fr)` : room))
    .join(" "),
})

/** The cells of a row: one for each column, so that none stands below the head of another one. */
const cellsOf = <Item,>(columns: Columns<Item>, item: Item, hidden: Hidden) =>
  columns.map(({ cell }, place) => {
    const drawn = cell(item, hidden)
    return <Fragment key={place}>{drawn === false || drawn === undefined ? <i /> : drawn}</Fragment>
  })

/** Elements whose title is their own text, because that has no room. */
const cutTexts = new WeakSet<Element>()

// A text without room has its whole as a title, while the pointer is on it.
window.addEventListener("mouseover", ({ target }) => {
  const text = target instanceof Element && target.closest<HTMLElement>(".subject, .notes, .row > :not(time)")
  if (text === false || text === null || (text.title !== "" && !cutTexts.has(text))) return
  cutTexts.add(text)
  // Letters may reach a little out of their lines.
  const isCut = text.scrollWidth > text.clientWidth || text.scrollHeight > text.clientHeight + 5
  text.title = isCut ? text.innerText : ""
})

const NONE: Range = [0, -1]

/** The rows in sight that are not among the first ones. */
const rangeBeyond = (firstRows: number, [first, last]: Range): Range =>
  last < firstRows ? NONE : [Math.max(first, firstRows), last]

interface RowsProps<Item> extends ListingProps<Item> {
  /** At most so many of them are elements. */
  readonly stay: number
}

interface RowProps<Item> {
  readonly kind: string
  readonly id: string
  readonly item: Item | undefined
  readonly place: number
  readonly setSize: number
  readonly height: number
  readonly columns: Columns<Item>
  readonly hidden: Hidden
}

/** A row. As long as nothing in it changes, nor the reader's role, it is neither drawn nor compared again. */
const Row = <Item,>({ kind, id, item, place, setSize, height, columns, hidden }: RowProps<Item>) =>
  useMemo(
    () => (
      <li
        hidden={hidden}
        aria-setsize={setSize}
        aria-posinset={place + 1}
        style={{ top: `${place * height}px`, height: `${height}px` }}
      >
        {item === undefined ? (
          <span class="ghost" />
        ) : (
          <div class={`row ${kind}`} data-id={id}>
            {cellsOf(columns, item, hidden)}
          </div>
        )}
      </li>
    ),
    [id, item, place, setSize, height, columns, hidden, me.value?.role],
  )

/**
 * A list of any length. Its first rows are elements, so that readers find and print them; of the others, those in
 * sight are. The window scrolls it.
 */
const Rows = <Item,>({ label, kind, listed, keyOf, stay, size = "plain", columns }: RowsProps<Item>) => {
  const { pages, see } = listed
  const list = useRef<HTMLUListElement>(null)
  const left = useRef<string | undefined>(undefined)
  const lines = ROW_HEIGHTS[size][width.value === "narrow" ? "narrow" : "wide"]
  const height = useMemo(() => lines * rootSize(), [lines])
  const inSight = Math.ceil(window.innerHeight / height)
  const [range, hiddenOf, comeCloser] = useSight(inSight)
  const whole = useWhole(listed, inSight, stay)
  const count = rowCount(pages)
  // While a reader scrolls through the first rows, none is drawn.
  const beyond = useMemo(() => computed(() => rangeBeyond(whole, range.value)), [whole])
  const look = () => {
    const top = list.current?.getBoundingClientRect().top ?? 0
    // Keys lead to the first rows also of a list that begins below the window.
    const rowAt = (y: number) => Math.max(0, Math.floor((y - top) / height))
    comeCloser(rowAt(0), rowAt(window.innerHeight))
  }
  useEffect(() => {
    const listening = new AbortController()
    window.addEventListener("scroll", look, { passive: true, signal: listening.signal })
    window.addEventListener("resize", look, { signal: listening.signal })
    return () => listening.abort()
  }, [height])
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
  useEffect(look, [count, height])
  const seeRows = () => untracked(() => see(...pagesInSight(pages, ...range.peek())))
  useSignalEffect(() => {
    if (range.value) seeRows()
    const soon = requestAnimationFrame(look)
    return () => cancelAnimationFrame(soon)
  })
  useEffect(seeRows, [count, pages.next])
  const setSize = pages.next === null ? count : -1
  const drawn = new Set<string>()
  return (
    <ul
      ref={list}
      class="rows"
      aria-label={label}
      onPointerMove={aim}
      style={{ ...styleOf(columns), height: `${count * height}px` }}
    >
      {[...rowsBetween(pages, 0, whole - 1), ...rowsBetween(pages, ...beyond.value)].map(({ row, item }) => {
        const known = item === undefined ? "" : keyOf(item)
        // While a list changes, two of its pages may have the same item.
        const key = known === "" || drawn.has(known) ? `row ${row}` : known
        drawn.add(key)
        const place = { place: row, setSize, height, hidden: hiddenOf(row) }
        return <Row key={key} kind={kind} id={known} item={item} {...place} columns={columns} />
      })}
    </ul>
  )
}

export const Listing = <Item,>(next: ListingProps<Item>) => {
  const [props, stay] = useInSteps(next)
  const { columns, kind, isHeadless = false, listed, empty } = props
  const { key, pages, failure } = listed
  const isEmpty = rowCount(pages) === 0
  const isRead = !isEmpty || pages.next === null
  const groups = isEmpty ? undefined : groupsOf(pages)
  return (
    <>
      <ReadingNote reading={{ value: isRead ? pages : undefined, failure }} />
      {isEmpty && isRead && empty}
      {!isEmpty && !isHeadless && (
        <div class={`row heads ${kind}`} style={styleOf(columns)}>
          {columns.map(({ head, sort }, place) => (
            <span key={place}>
              {typeof head !== "string" ? (
                head(itemsOf(pages))
              ) : sort === undefined ? (
                head
              ) : (
                <SortHead name={head} sort={sort} />
              )}
            </span>
          ))}
        </div>
      )}
      {groups === undefined ? (
        <Rows key={key} {...props} stay={stay} />
      ) : (
        groups.map(([name, part]) => (
          <Fragment key={`${key} ${name}`}>
            <h3>
              {name} <span class="count">{numberText(rowCount(part))}</span>
            </h3>
            <Rows {...props} stay={stay} label={name} listed={{ ...listed, pages: part }} />
          </Fragment>
        ))
      )}
      {pages.read[0]?.cut !== undefined && <p class="lead">{pages.read[0].cut}; a filter finds others.</p>}
    </>
  )
}

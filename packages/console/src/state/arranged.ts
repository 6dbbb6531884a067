import { naturalKey } from "./names.ts"
import { numberText } from "../format/times.ts"
import { always, type List, MOST, readAll } from "./lists.ts"

/** So many rows are sorted, or searched by the page itself: those that come first. */
export const MOST_ARRANGED = 10_000

/** The place of a word among words: by these, a head sorts what has few of them. */
export const placeAmong =
  (words: ReadonlyArray<string>) =>
  (word: string): number =>
    words.includes(word) ? words.indexOf(word) : words.length

/** The value by which a head sorts: a text, as people read it, or a number. Unknown values come last. */
export type Sorts<Item> = Readonly<Record<string, (item: Item) => string | number | null | undefined>>

interface Arrangement<Item> {
  readonly sorts: Sorts<Item>
  /** The name of one of these, with `-` before it the other way round; in the order of the list without. */
  readonly sort?: string | undefined
  /** The words that an item must have, where the service does not search. */
  readonly search?: string | undefined
}

const TIME = /^\d{4}-\d\d-\d\dT/

/** All that people read of an item: no IDs, no times, and no `null` or `true`, which a page says in other words. */
const textIn = (value: unknown, name = ""): string => {
  if (typeof value === "object" && value !== null)
    return Object.entries(value)
      .map(([key, one]) => textIn(one, key))
      .join("\n")
  if (typeof value === "number") return String(value)
  return typeof value !== "string" || name === "id" || TIME.test(value) ? "" : value
}

type Key = string | number | null | undefined
type Keyed<Item> = readonly [key: Key, item: Item]

const orderOf = <Item>([a]: Keyed<Item>, [b]: Keyed<Item>, sign: number): number => {
  if (a === b) return 0
  if (a === null || a === undefined) return 1
  if (b === null || b === undefined) return -1
  return a < b ? -sign : sign
}

const answeringReader = async (count: number): Promise<void> => {
  if (count > MOST) await new Promise((resolve) => setTimeout(resolve))
}

/**
 * A list in the order of one of its heads, and those with the searched words alone. It is read as a whole; without an
 * order and words it stays as it is.
 */
export const arranged = <Item>(
  listWith: (limit?: number) => List<Item>,
  arrangement: Arrangement<Item>,
): List<Item> => {
  const { sort = "", sorts } = arrangement
  const words = (arrangement.search ?? "").toLowerCase().split(/\s+/).filter(Boolean)
  const sign = sort.startsWith("-") ? -1 : 1
  const name = sort.replace(/^-/, "")
  const by = Object.hasOwn(sorts, name) ? sorts[name] : undefined
  if (by === undefined && words.length === 0) return listWith()
  const list = listWith(MOST)
  /** Keys are made page by page, so that none of them makes a frame long. */
  const keyed = (items: ReadonlyArray<Item>): ReadonlyArray<Keyed<Item>> =>
    items.flatMap((item) => {
      const text = words.length === 0 ? "" : textIn(item).toLowerCase()
      if (!words.every((word) => text.includes(word))) return []
      const key = by?.(item)
      return [[typeof key === "string" ? naturalKey(key) : key, item]]
    })
  return {
    ...list,
    key: `${list.key} by ${sort} with ${words.join(" ")}`,
    read: async (_cursor, isWanted = always) => {
      let count = 0
      let isCut = false
      let sorted: ReadonlyArray<Keyed<Item>> = []
      const read: List<Item>["read"] = async (cursor) => {
        const { items, next_cursor = null } = await list.read(cursor, isWanted)
        count += items.length
        isCut = count >= MOST_ARRANGED && next_cursor !== null
        // Merged into those before it, a page is quickly sorted, and no task sorts all.
        sorted = [...sorted, ...keyed(items)].toSorted((a, b) => orderOf(a, b, sign))
        return { items: [], next_cursor: isCut ? null : next_cursor }
      }
      await readAll({ read }, { isWanted })
      // A separate task draws the rows of a long list.
      await answeringReader(count)
      return {
        items: sorted.map(([, item]) => item),
        isSlow: count > MOST,
        cut: isCut ? `Only the first ${numberText(count)} are read` : undefined,
      }
    },
  }
}

import type { Answered } from "./Pages.ts"

/** So many matches make a page of a list that is searched. */
const ENOUGH = 60

/**
 * Reads on from a cursor until enough items match. The API searches nothing by parts of names, so
 * the page searches.
 */
export const search = async <Item>(
  read: (cursor: string | undefined) => Promise<Answered<Item>>,
  matches: (item: Item) => boolean,
  from: string | undefined,
): Promise<Answered<Item>> => {
  const items: Array<Item> = []
  let cursor = from
  for (;;) {
    const page = await read(cursor)
    items.push(...page.items.filter(matches))
    const next = page.next_cursor ?? null
    if (next === null || items.length >= ENOUGH) return { items, next_cursor: next }
    cursor = next
  }
}

type Read<Item> = (cursor: string | undefined) => Promise<Answered<Item>>

/** Marks the cursors of the exact list; the others are those of the search. */
const EXACT = "exact "
/** Where the search begins, after the exact list. */
const OTHERS = "others"

/**
 * A list of what the API finds exactly, and then of what a search finds; of the exact ones only, if
 * `isOnly` and there are any.
 */
export const exactFirst =
  <Item>(exact: Read<Item>, others: Read<Item>, isOnly: boolean): Read<Item> =>
  async (cursor) => {
    if (cursor === OTHERS) return await others(undefined)
    if (cursor?.startsWith(EXACT) === false) return await others(cursor)
    const { items, next_cursor = null } = await exact(cursor?.slice(EXACT.length))
    if (next_cursor !== null) return { items, next_cursor: `${EXACT}${next_cursor}` }
    // An empty page would not be in sight, and so not be read again.
    if (cursor === undefined && items.length === 0) return await others(undefined)
    return { items, next_cursor: isOnly ? null : OTHERS }
  }

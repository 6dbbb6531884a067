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

import { type List, MOST, readAll } from "./lists.ts"

const byName = new Intl.Collator("en", { numeric: true }).compare

/** A list of things with names as people read them: 2 before 10, and those with the searched text alone. */
export const inNames = <Item extends { readonly name: string }>(
  list: List<Item>,
  search: string,
): List<Item> => ({
  ...list,
  key: `${list.key} with ${search}`,
  read: async (_cursor, isWanted = () => true) => {
    const all = await readAll(list, { isWanted })
    const items = all
      .filter((item) => JSON.stringify(item).toLowerCase().includes(search.trim().toLowerCase()))
      .toSorted((a, b) => byName(a.name, b.name))
    return { items, isSlow: all.length > MOST }
  },
})

import { byName, type List, MOST, type Named, readAll } from "./lists.ts"

/** A list of things with names as people read them: 2 before 10, and those with the searched text alone. */
export const inNames = <Item extends Named>(list: List<Item>, search: string): List<Item> => ({
  ...list,
  key: `${list.key} with ${search}`,
  read: async (_cursor, isWanted = () => true) => {
    const all = await readAll(list, { isWanted })
    const items = all
      .filter((item) => JSON.stringify(item).toLowerCase().includes(search.trim().toLowerCase()))
      .toSorted(byName)
    return { items, isSlow: all.length > MOST }
  },
})

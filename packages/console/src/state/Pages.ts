export interface Answered<Item> {
  readonly items: ReadonlyArray<Item>
  readonly next_cursor?: string | null
  /** Where a list is read in groups: the name of each, and how many of the items are in it. */
  readonly groups?: ReadonlyArray<readonly [name: string, count: number]>
  /** Whether it took many requests, so that it is read again less often. */
  readonly isSlow?: boolean
  /** Why it has not all rows. */
  readonly cut?: string | undefined
}

/** A page that was read: its place in the list, and its items unless they were dropped. */
interface ReadPage<Item> {
  readonly cursor: string | undefined
  readonly count: number
  readonly items: ReadonlyArray<Item> | undefined
  /** The revision at which it was read; undefined if the page before it has ended elsewhere since. */
  readonly revision: number | undefined
  readonly groups?: Answered<Item>["groups"]
  readonly isSlow?: boolean
  readonly cut?: Answered<Item>["cut"]
  /** One that was asked for later has a higher number: a long list is read for long, and is as old as its beginning. */
  readonly answer?: number
}

/**
 * A list of which only some pages are in memory. The cursors of all pages read so far are kept, so
 * that a reader can scroll back to one that was dropped.
 */
export interface Pages<Item> {
  readonly read: ReadonlyArray<ReadPage<Item>>
  /** The cursor of the page after the last one; null at the end of the list. */
  readonly next: string | null
}

/** A list of which nothing was read; `next` is the first page, which needs no cursor. */
export const unread: Pages<never> = { read: [], next: "" }

/** The cursor with which a page is read, and undefined for the first. */
export const cursorOf = <Item>({ read, next }: Pages<Item>, index: number): string | undefined => {
  const cursor = index < read.length ? read[index]?.cursor : (next ?? undefined)
  return cursor === "" ? undefined : cursor
}

/** So many rows are compared with those before, until the browser answers its reader. */
const COMPARED = 500

/** Items as they come again: each that is as before is the same object, so that its row is not drawn again. */
export const recognised = async <Item>(
  before: ReadonlyArray<Item>,
  items: ReadonlyArray<Item>,
): Promise<ReadonlyArray<Item>> => {
  const texts = new Map<string, Item>()
  const found: Array<Item> = []
  for (const [place, item] of [...before, ...items].entries()) {
    if (place % COMPARED === COMPARED - 1) await new Promise((resolve) => setTimeout(resolve))
    const text = JSON.stringify(item)
    if (place < before.length) texts.set(text, item)
    else found.push(texts.get(text) ?? item)
  }
  return found
}

/** Takes in the answer for one page. Where the list ended earlier than before, later pages go. */
export const withPage = <Item>(
  pages: Pages<Item>,
  index: number,
  answer: Answered<Item>,
  revision: number,
  number = 0,
): Pages<Item> => {
  if (index > pages.read.length) return pages
  const next = answer.next_cursor ?? null
  const { next_cursor: _, ...read } = answer
  const page = { ...read, cursor: cursorOf(pages, index), count: read.items.length, revision, answer: number }
  const before = [...pages.read.slice(0, index), page]
  const after = pages.read.slice(index + 1)
  const [follower, ...others] = after
  if (next === null || follower === undefined) return { read: before, next }
  // The chain of cursors stays whole: the next page begins where this one ends now.
  const moved = follower.cursor === next ? follower : { ...follower, cursor: next, revision: undefined }
  return { read: [...before, moved, ...others], next: pages.next }
}

/** Drops the items of pages outside of a range, but for those of the first rows; their places stay known. */
export const keepPages = <Item>(
  pages: Pages<Item>,
  first: number,
  last: number,
  firstRows = 0,
): Pages<Item> => ({
  ...pages,
  read: pages.read.map((page, index) =>
    (index >= first && index <= last) || (firstRows > 0 && index <= pageOfRow(pages, firstRows - 1))
      ? page
      : { ...page, items: undefined },
  ),
})

/** The places of a list's rows, to be read again; unread unless there are any. */
export const placesOf = <Item>(pages: Pages<Item> = unread): Pages<Item> =>
  rowCount(pages) === 0 ? unread : keepPages(pages, 1, 0)

/** The first of some pages that is not in memory, or was read before a revision; undefined if all are. */
export const pageToRead = <Item>(
  { read, next }: Pages<Item>,
  [first, last]: PagesInSight,
  revision: number,
): number | undefined => {
  const end = next === null ? read.length - 1 : read.length
  for (let index = first; index <= Math.min(last, end); index += 1) {
    const page = read[index]
    if (page?.items === undefined || page.revision === undefined || page.revision < revision) return index
  }
  return undefined
}

export const rowCount = <Item>({ read }: Pages<Item>): number =>
  read.reduce((sum, { count }) => sum + count, 0)

export const pageOfRow = <Item>({ read }: Pages<Item>, row: number): number => {
  let before = 0
  for (const [index, { count }] of read.entries()) {
    before += count
    if (row < before) return index
  }
  return read.length
}

/** The groups of a list that was read in groups, each as a list. */
export const groupsOf = <Item>({
  read: [page],
}: Pages<Item>): ReadonlyArray<readonly [name: string, pages: Pages<Item>]> | undefined => {
  let end = 0
  return page?.groups?.map(([name, count]) => {
    const items = page.items?.slice(end, (end += count))
    return [name, { read: [{ cursor: undefined, count, items, revision: page.revision }], next: null }]
  })
}

export type PagesInSight = readonly [first: number, last: number]

/**
 * The first and the last page of which a row is in sight. Where the list ends above, that is its last
 * page: an empty list still reads its first one again.
 */
export const pagesInSight = <Item>(pages: Pages<Item>, firstRow: number, lastRow: number): PagesInSight => {
  const end = Math.max(0, pages.next === null ? pages.read.length - 1 : pages.read.length)
  return [Math.min(pageOfRow(pages, firstRow), end), Math.min(pageOfRow(pages, lastRow), end)]
}

/**
 * A list without the items that another one has by an answer that was asked for later: an item that has changed
 * between the reads of two lists is in both.
 */
export const withoutMoved = <Item extends { readonly id: string }>(
  pages: Pages<Item>,
  other: Pages<Item>,
): Pages<Item> => {
  const answers = new Map(
    other.read.flatMap(({ answer = 0, items = [] }) => items.map(({ id }) => [id, answer] as const)),
  )
  const read = pages.read.map((page) => {
    const { answer = 0, groups, items = [] } = page
    const stay = items.filter(({ id }) => (answers.get(id) ?? 0) <= answer)
    if (stay.length === items.length) return page
    const countOf = (part: ReadonlyArray<Item>) => part.filter((item) => stay.includes(item)).length
    let end = 0
    const counts = groups?.map(([name, count]) => [name, countOf(items.slice(end, (end += count)))] as const)
    return { ...page, items: stay, count: stay.length, ...(counts && { groups: counts }) }
  })
  return { ...pages, read }
}

/** The rows from `first` to `last`, each with its number; undefined where a page is not in memory. */
export const rowsBetween = <Item>(
  { read }: Pages<Item>,
  first: number,
  last: number,
): ReadonlyArray<{ readonly row: number; readonly item: Item | undefined }> => {
  const rows: Array<{ row: number; item: Item | undefined }> = []
  let start = 0
  for (const { count, items } of read) {
    const from = Math.max(first, start)
    const to = Math.min(last, start + count - 1)
    for (let row = from; row <= to; row += 1) rows.push({ row, item: items?.[row - start] })
    start += count
    if (start > last) break
  }
  return rows
}

export const itemsOf = <Item>({ read }: Pages<Item>): ReadonlyArray<Item> =>
  read.flatMap(({ items }) => items ?? [])

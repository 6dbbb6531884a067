import { computed, effect, signal } from "@preact/signals"
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { type ApiFailure, asFailure, isUnreached } from "../api/ApiFailure.ts"
import type { Query } from "../api/request.ts"
import { attempt, keep, kept } from "../state/kept.ts"
import { keepLatest } from "../state/keepLatest.ts"
import { type List, topicsOf } from "../state/lists.ts"
import {
  type Answered,
  cursorOf,
  itemsOf,
  keepPages,
  pageOfRow,
  type Pages,
  type PagesInSight,
  pageToRead,
  placesOf,
  recognised,
  withPage,
} from "../state/Pages.ts"
import type { Topic } from "@tocsin/contract/liveViews/topicNames"
import { rested, revisionOf } from "../state/revisions.ts"
import { call, token } from "../state/session.ts"

/** Pages kept on either side of those that are seen. */
const AROUND = 2
/** The least time between two reads of a list that takes many requests, or passes through much. */
const SLOW_MILLIS = 10_000

/** So many rows are read whether they are in sight or not, so that they can be found and printed. */
export const MOST_WHOLE = 1_000
/** The least time between two reads of the rows out of sight. */
const WHOLE_MILLIS = 30_000

interface Found<Item> {
  readonly key: string
  readonly pages: Pages<Item>
  readonly failure: ApiFailure | undefined
}

/** A list as far as it was read. */
export interface Listed<Item> extends Found<Item> {
  readonly see: (first: number, last: number) => void
  /** Reads the first {@link MOST_WHOLE} rows, after those in sight. */
  readonly readWhole: () => void
}

const LISTS_KEPT = 12

const PLACES_KEY = "tocsin.lists"
/** The lists of a page, which comes back with their places when it is loaded again. */
const LISTS_OF_PAGE = 3

type Lists = ReadonlyArray<readonly [key: string, pages: Pages<unknown>]>

/**
 * Lists as they were last read, for a reader who goes back to one. At first those that this page
 * wrote, below, before it was loaded again.
 */
const lastRead =
  attempt(() => new Map(kept("sessionStorage", PLACES_KEY) as Lists | null | undefined)) ??
  new Map<string, Pages<unknown>>()

window.addEventListener("pagehide", () => {
  const latest = Array.from(lastRead).slice(-LISTS_OF_PAGE)
  const places = latest.map(([key, pages]) => [key, placesOf(pages)])
  keep("sessionStorage", PLACES_KEY, places)
})

/** A list as it was last read. Its key names the list, and so the kind of its items. */
const known = <Item>(key: string) => lastRead.get(key) as Pages<Item> | undefined

/** A list that is opened: as long as it was, so that a way back leads to the same rows, and without items. */
const opened = <Item>(key: string): Found<Item> => ({
  key,
  pages: placesOf(known<Item>(key)),
  failure: undefined,
})

/** The pages of a list that are kept: those that are seen, those around them, and those of its first rows. */
const around = <Item>(pages: Pages<Item>, [first, last]: PagesInSight, firstRows = 0): Pages<Item> =>
  keepPages(pages, first - AROUND, last + AROUND, firstRows)

/** A list that could not be read: as it was last read, if nothing of it is shown. */
const withFailure = <Item>(before: Found<Item>, failure: ApiFailure): Found<Item> => {
  const isLost = isUnreached(failure) && itemsOf(before.pages).length === 0
  return { ...before, pages: (isLost ? known<Item>(before.key) : undefined) ?? before.pages, failure }
}

// Pages that one operator read are not shown to the next.
effect(() => {
  if (token.value === "") lastRead.clear()
})

/** Reads when the list is another one and at each revision; a slow list not more often than it may. */
const useRevision = (
  { key, topics, isSlow = false }: Omit<List<unknown>, "read">,
  read: () => void,
): void => {
  const readAt = useRef({ key: "", at: 0 })
  const revision = revisionOf(topics, isSlow)
  // Before the first frame, which takes longer than the request.
  useLayoutEffect(() => {
    const readNow = (): void => {
      // A change that was heard before the tab was hidden; one that is seen again reads everything.
      if (document.hidden && readAt.current.key === key) return
      readAt.current = { key, at: performance.now() }
      read()
    }
    const since = performance.now() - readAt.current.at
    if (isSlow && readAt.current.key === key && since < SLOW_MILLIS) {
      const timer = setTimeout(readNow, SLOW_MILLIS - since)
      return () => clearTimeout(timer)
    }
    readNow()
    return undefined
  }, [key, revision])
}

/** Of which list the rows out of sight are wanted, as of which revision, and when that was. */
interface Whole {
  readonly key: string
  readonly revision: number
  readonly at: number
}
const noneWhole: Whole = { key: "", revision: 0, at: 0 }

/** Rows out of sight are read again less often than the others. */
const wholeAsOf = (whole: Whole, revision: number): Whole => {
  const at = performance.now()
  return at - whole.at < WHOLE_MILLIS ? whole : { ...whole, revision, at }
}

const pageOutOfSight = <Item>(pages: Pages<Item>, key: string, whole: Whole): number | undefined =>
  whole.key === key ? pageToRead(pages, [0, pageOfRow(pages, MOST_WHOLE - 1)], whole.revision) : undefined

/** An answer in the place of rows that are shown waits as long as the pointer moves over them. */
const inTime = async <Item>(
  reading: Promise<Answered<Item>>,
  shown: { readonly items?: ReadonlyArray<Item> | undefined } | undefined,
): Promise<Answered<Item>> => {
  const answer = await reading
  if (shown?.items === undefined) return answer
  const items = await recognised(shown.items, answer.items)
  await rested()
  return { ...answer, items }
}

/** Each revision of each list has its own number, and so has each answer: from when it was asked for. */
let [lastRevision, lastAnswer] = [0, 0]

/** A list that is read by pages as they come into sight, and again at each revision. */
export const usePages = <Item>(list: List<Item>): Listed<Item> => {
  const { key } = list
  const found = useMemo(() => signal(opened<Item>(key)), [])
  const seen = useRef<PagesInSight>([0, 0])
  /** As of which revision the pages in sight are wanted. */
  const revision = useRef(0)
  const reading = useRef<{ readonly key: string } | undefined>(undefined)
  const whole = useRef(noneWhole)
  const latest = useRef(list)
  latest.current = list

  /** Reads a page; resolves with whether it was read. */
  const readPage = async (index: number, asOf: number, isWanted: () => boolean): Promise<boolean> => {
    const [{ pages }, number] = [found.peek(), (lastAnswer += 1)]
    try {
      const answer = await inTime(latest.current.read(cursorOf(pages, index), isWanted), pages.read[index])
      if (!isWanted()) return false
      const { key: of } = found.peek()
      const all = withPage(pages, index, answer, asOf, number)
      found.value = { key: of, pages: around(all, seen.current, MOST_WHOLE), failure: undefined }
      if (latest.current.isWhole !== true) keepLatest(lastRead, LISTS_KEPT, of, around(all, seen.current))
      return true
    } catch (error) {
      if (isWanted()) found.value = withFailure(found.peek(), asFailure(error))
      return false
    }
  }

  /** Reads the pages that are not current, those in sight first, until all are or one cannot be read. */
  const readSeen = async (): Promise<void> => {
    const mine = { key: latest.current.key }
    if (reading.current?.key === mine.key) return
    reading.current = mine
    if (found.peek().key !== mine.key) {
      seen.current = [0, 0]
      found.value = opened(mine.key)
    }
    const isWanted = () => reading.current === mine
    for (;;) {
      const asOf = revision.current
      const { key: of, pages } = found.peek()
      const index = pageToRead(pages, seen.current, asOf) ?? pageOutOfSight(pages, of, whole.current)
      if (index === undefined) break
      const isRead = await readPage(index, asOf, isWanted)
      if (!isWanted()) return
      // Changes since the read started are read again, also after a failure.
      if (!isRead && revision.current === asOf) break
      // A tab that is seen again reads everything.
      if (document.hidden) break
    }
    reading.current = undefined
  }

  const isSlow = list.isSlow === true || found.peek().pages.read[0]?.isSlow === true
  useRevision({ ...list, isSlow }, () => {
    revision.current = lastRevision += 1
    if (!isSlow) whole.current = wholeAsOf(whole.current, lastRevision)
    void readSeen()
  })
  useEffect(() => () => void (reading.current = { key: "closed" }), [])

  const { pages, failure } = found.value.key === key ? found.value : opened<Item>(key)
  return {
    key,
    pages,
    failure,
    see: (first, last) => {
      const [a, b] = seen.current
      if (a === first && b === last) return
      seen.current = [first, last]
      void readSeen()
    },
    readWhole: () => {
      if (whole.current.key === key) return
      whole.current = { key, revision: 0, at: performance.now() }
      void readSeen()
    },
  }
}

/**
 * Something that a page reads: what it last was, and why it could not be read since.
 *
 * | state | value | failure | what the page shows |
 * |---|---|---|---|
 * | loading | no | no | rows on their way |
 * | current | yes | no | the value, also while it is read again |
 * | failed | no | yes | why, and what happens next |
 * | outdated | yes | yes | the value, and that it is not current |
 *
 * It is read again when one of its topics changes, every 15 s for what time alone changes, and within
 * 2 s after the server was not reached.
 */
export interface Reading<A> {
  readonly value: A | undefined
  readonly failure: ApiFailure | undefined
  /** Another number after each read, also of an equal value. */
  readonly revision?: number | undefined
}

/** Reads something as a whole: as the only item of a list. */
export const useResource = <A>(
  key: string,
  topics: ReadonlyArray<Topic>,
  read: () => Promise<A>,
  isSlow = false,
): Reading<A> => {
  const readOne = async () => ({ items: [await read()] })
  const { pages, failure } = usePages<A>({ key, topics, read: readOne, isWhole: true, isSlow })
  return { value: itemsOf(pages)[0], failure, revision: pages.read[0]?.revision }
}

/**
 * A map that a page reads, of which each row shows its part: `useCurrent` keeps it current while the page is open,
 * and a component with `useOf` is drawn again only when its own part changes. `of` names what is read, where that is not all.
 */
export const keptMap = <V>(
  key: string,
  topics: ReadonlyArray<Topic>,
  read: (of: string) => Promise<ReadonlyArray<readonly [id: string, part: V]>>,
  isSlow = false,
) => {
  const parts = signal<ReadonlyMap<string, V>>(new Map())
  return {
    /** Gives why the map could not be read. */
    useCurrent: (of = ""): ApiFailure | undefined => {
      const { failure, value } = useResource(`${key} ${of}`, topics, () => read(of), isSlow)
      useEffect(() => {
        if (value !== undefined) parts.value = new Map(value)
      }, [value])
      return failure
    },
    /** All parts, for which a component is drawn again at each change. */
    all: parts,
    useOf: (id: string): V | undefined => useMemo(() => computed(() => parts.value.get(id)), [id]).value,
  }
}

export const useRead = <A>(path: string, query: Query = {}, topics = topicsOf(path)): Reading<A> =>
  useResource(JSON.stringify([path, query]), topics, () => call<A>("GET", path, { query }))

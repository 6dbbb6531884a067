import { effect, useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { type ApiFailure, asFailure, isUnreached } from "../api/ApiFailure.ts"
import { beatOf } from "../state/beats.ts"
import type { List } from "../state/lists.ts"
import {
  cursorOf,
  keepPages,
  type Pages,
  type PagesInSight,
  pageToRead,
  unread,
  withPage,
} from "../state/Pages.ts"
import { token } from "../state/session.ts"

/** Pages kept on either side of those that are seen. */
const AROUND = 2
/** The least time between two reads of a list whose pages take many requests. */
const SLOW_MILLIS = 10_000

interface Listed<Item> {
  readonly key: string
  readonly pages: Pages<Item>
  readonly failure: ApiFailure | undefined
}

/** Lists as they were last read, for a reader who comes back to one while the server is unreachable. */
const lastRead = new Map<string, Pages<unknown>>()
const LISTS_KEPT = 12

const keepLastRead = (key: string, pages: Pages<unknown>): void => {
  lastRead.delete(key)
  lastRead.set(key, pages)
  const [oldest] = lastRead.keys()
  if (lastRead.size > LISTS_KEPT && oldest !== undefined) lastRead.delete(oldest)
}

// What one operator read is not shown to the next.
effect(() => {
  if (token.value === "") lastRead.clear()
})

/** Reads when the list is another one and at each beat; a slow list not more often than it may. */
const useBeat = <Item>({ key, topics, isSlow = false }: List<Item>, read: () => void): void => {
  const readAt = useRef({ key: "", at: 0 })
  const beat = beatOf(topics, isSlow)
  // Before the first frame, which takes longer than the request.
  useLayoutEffect(() => {
    const readNow = (): void => {
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
  }, [key, beat])
}

/** Each beat of each list has its own number. */
let lastBeat = 0

/** A list that is read by pages as they come into sight, and again at each beat. */
export const usePages = <Item>(list: List<Item>) => {
  const { key } = list
  const found = useSignal<Listed<Item>>({ key, pages: unread, failure: undefined })
  const seen = useRef<PagesInSight>([0, 0])
  /** As of which beat the pages in sight are wanted. */
  const beat = useRef(0)
  const reading = useRef<{ readonly key: string } | undefined>(undefined)
  const latest = useRef(list)
  latest.current = list

  /** Reads a page; resolves with whether it was read. */
  const readPage = async (index: number, asOf: number, isWanted: () => boolean): Promise<boolean> => {
    const { pages } = found.peek()
    try {
      const answer = await latest.current.read(cursorOf(pages, index))
      if (!isWanted()) return false
      const [first, last] = seen.current
      const taken = keepPages(withPage(pages, index, answer, asOf), first - AROUND, last + AROUND)
      found.value = { ...found.peek(), pages: taken, failure: undefined }
      keepLastRead(found.peek().key, taken)
      return true
    } catch (error) {
      if (!isWanted()) return false
      const failure = asFailure(error)
      const before = found.peek()
      const known = isUnreached(failure) && before.pages === unread ? lastRead.get(before.key) : undefined
      // The key names the list, and so the kind of its items.
      found.value = { ...before, ...(known !== undefined && { pages: known as Pages<Item> }), failure }
      return false
    }
  }

  /** Reads the pages in sight that are not current, until all are or one cannot be read. */
  const readSeen = async (): Promise<void> => {
    const mine = { key: latest.current.key }
    if (reading.current?.key === mine.key) return
    reading.current = mine
    if (found.peek().key !== mine.key) {
      seen.current = [0, 0]
      found.value = { key: mine.key, pages: unread, failure: undefined }
    }
    const isWanted = () => reading.current === mine
    for (;;) {
      const asOf = beat.current
      const index = pageToRead(found.peek().pages, seen.current, asOf)
      if (index === undefined) break
      const isRead = await readPage(index, asOf, isWanted)
      if (!isWanted()) return
      // What changed meanwhile is read again, also after a failure.
      if (!isRead && beat.current === asOf) break
    }
    reading.current = undefined
  }

  useBeat(list, () => {
    beat.current = lastBeat += 1
    void readSeen()
  })
  useEffect(() => () => void (reading.current = { key: "closed" }), [])

  const listed = found.value.key === key ? found.value : { key, pages: unread, failure: undefined }
  return {
    pages: listed.pages as Pages<Item>,
    failure: listed.failure,
    /** Says which pages are in sight, so that those are read. */
    see: (first: number, last: number) => {
      const [a, b] = seen.current
      if (a === first && b === last) return
      seen.current = [first, last]
      void readSeen()
    },
  }
}

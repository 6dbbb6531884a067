import { effect, useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { ApiFailure, isUnreached } from "../api/ApiFailure.ts"
import { beatOf } from "../state/beats.ts"
import type { List } from "../state/lists.ts"
import { cursorOf, keepPages, type Pages, unread, withPage } from "../state/Pages.ts"
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

/** One reading of a list; a later one for another list makes it stop. */
interface Reading {
  readonly key: string
  /** Whether something changed since it began. */
  again: boolean
}

/** Reads when the list is another one and at each beat; a slow list not more often than it may. */
const useBeat = <Item>({ key, topics, isSlow = false }: List<Item>, read: () => void): void => {
  const readAt = useRef({ key: "", at: 0 })
  const beat = beatOf(topics)
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

/** A list that is read by pages as they come into sight, and again at each beat. */
export const usePages = <Item>(list: List<Item>) => {
  const { key } = list
  const found = useSignal<Listed<Item>>({ key, pages: unread, failure: undefined })
  const seen = useRef<readonly [first: number, last: number]>([0, 0])
  const reading = useRef<Reading | undefined>(undefined)
  const latest = useRef(list)
  latest.current = list

  const readPage = async (mine: Reading, index: number): Promise<void> => {
    const { pages } = found.peek()
    if (index > pages.read.length || (index === pages.read.length && pages.next === null)) return
    try {
      const answer = await latest.current.read(cursorOf(pages, index))
      if (reading.current !== mine) return
      const [first, last] = seen.current
      const taken = keepPages(withPage(found.peek().pages, index, answer), first - AROUND, last + AROUND)
      found.value = { key: mine.key, pages: taken, failure: undefined }
      keepLastRead(mine.key, taken)
    } catch (error) {
      if (reading.current !== mine || !(error instanceof ApiFailure)) return
      const before = found.peek()
      const known = isUnreached(error) && before.pages === unread ? lastRead.get(mine.key) : undefined
      // The key names the list, and so the kind of its items.
      found.value = { ...before, ...(known !== undefined && { pages: known as Pages<Item> }), failure: error }
    }
  }

  const readSeen = async (isMissingOnly: boolean): Promise<void> => {
    const wanted = latest.current.key
    if (reading.current?.key === wanted) {
      if (!isMissingOnly) reading.current.again = true
      return
    }
    const mine: Reading = { key: wanted, again: false }
    reading.current = mine
    if (found.peek().key !== wanted) {
      seen.current = [0, 0]
      found.value = { key: wanted, pages: unread, failure: undefined }
    }
    const sought = seen.current
    const [first, last] = sought
    for (let index = first; index <= last; index += 1) {
      const isThere = found.peek().pages.read[index]?.items !== undefined
      if (!isMissingOnly || !isThere) await readPage(mine, index)
      if (reading.current !== mine) return
    }
    reading.current = undefined
    // The reader scrolled on meanwhile, or something changed.
    if (mine.again) await readSeen(false)
    else if (seen.current !== sought) await readSeen(true)
  }

  useBeat(list, () => void readSeen(false))
  useEffect(() => () => void (reading.current = { key: "closed", again: false }), [])

  const listed = found.value.key === key ? found.value : { key, pages: unread, failure: undefined }
  return {
    pages: listed.pages as Pages<Item>,
    failure: listed.failure,
    /** Says which pages are in sight, so that those are read. */
    see: (first: number, last: number) => {
      const [a, b] = seen.current
      if (a === first && b === last) return
      seen.current = [first, last]
      void readSeen(true)
    },
  }
}

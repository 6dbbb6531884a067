import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { type ApiFailure, asFailure } from "../api/ApiFailure.ts"
import type { Query } from "../api/request.ts"
import { topicsOf } from "./lists.ts"
import { revisionOf, type Topic } from "./revisions.ts"
import { call } from "./session.ts"

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
}

/** A request that is under way. */
interface Request {
  readonly key: string
  readonly abort: AbortController
  /** Whether something changed since it began. */
  again: boolean
}

/**
 * Reads when the page opens or `key` changes, and again when one of the topics changes; one request
 * at a time.
 */
export const useResource = <A>(
  key: string,
  topics: ReadonlyArray<Topic>,
  read: (signal: AbortSignal) => Promise<A>,
): Reading<A> => {
  const found = useSignal<Reading<A> & { readonly key: string }>({
    key,
    value: undefined,
    failure: undefined,
  })
  const reading = useRef<Request | undefined>(undefined)
  const latest = useRef(read)
  latest.current = read
  const revision = revisionOf(topics)
  const start = (): void => {
    if (reading.current?.key === key) {
      reading.current.again = true
      return
    }
    reading.current?.abort.abort()
    const mine: Request = { key, abort: new AbortController(), again: false }
    reading.current = mine
    const settle = (outcome: Reading<A>) => {
      if (reading.current !== mine) return
      reading.current = undefined
      const before = found.peek()
      // An equal answer moves nothing.
      if (before.key !== key || before.value !== outcome.value || before.failure !== outcome.failure)
        found.value = { ...outcome, key }
      // A tab that is seen again reads everything.
      if (mine.again && !document.hidden) start()
    }
    const before = found.peek().key === key ? found.peek().value : undefined
    latest.current(mine.abort.signal).then(
      (value) => settle({ value, failure: undefined }),
      (error: unknown) => settle({ value: before, failure: asFailure(error) }),
    )
  }
  // Before the first frame, which takes longer than the request.
  useLayoutEffect(start, [key, revision])
  useEffect(
    () => () => {
      reading.current?.abort.abort()
      reading.current = undefined
    },
    [],
  )
  return found.value.key === key ? found.value : { value: undefined, failure: undefined }
}

/** Reads a path of the API, again when one of its topics changes. */
export const useRead = <A>(path: string, query: Query = {}, topics = topicsOf(path)): Reading<A> =>
  useResource(JSON.stringify([path, query]), topics, (signal) => call<A>("GET", path, { query, signal }))

import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { type ApiFailure, asFailure } from "../api/ApiFailure.ts"
import { revisionOf, type Topic } from "./revisions.ts"

/**
 * Something that a page reads: what it last was, and why it could not be read since. Its state follows
 * from the two:
 *
 * | state | value | failure | what the page shows | what follows |
 * |---|---|---|---|---|
 * | loading | no | no | rows on their way | current or failed |
 * | current | yes | no | the value, also while it is read again | current or outdated |
 * | failed | no | yes | why, and what happens next | it is read again: current or failed |
 * | outdated | yes | yes | the value, and that it is not current | it is read again: current or outdated |
 *
 * It is read again when one of its topics changes, every 15 s for what time alone changes, and within
 * 2 s after the server was not reached.
 */
export interface Reading<A> {
  readonly value: A | undefined
  readonly failure: ApiFailure | undefined
}

/** In which state something is that a page reads. */
export const stateOf = ({
  value,
  failure,
}: Reading<unknown>): "loading" | "current" | "failed" | "outdated" => {
  if (value === undefined) return failure === undefined ? "loading" : "failed"
  return failure === undefined ? "current" : "outdated"
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

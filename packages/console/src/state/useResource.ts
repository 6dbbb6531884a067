import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { asFailure } from "../api/ApiFailure.ts"
import { revisionOf, type Topic } from "./revisions.ts"
import type { Reading } from "./Reading.ts"

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
      if (mine.again) start()
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

import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { ApiFailure } from "../api/ApiFailure.ts"
import { beatOf, type Topic } from "./beats.ts"

/** Something that a page reads: what it last was, and why it could not be read since. */
export interface Resource<A> {
  readonly value: A | undefined
  readonly failure: ApiFailure | undefined
}

const asFailure = (error: unknown): ApiFailure =>
  error instanceof ApiFailure ? error : new ApiFailure("unexpected", String(error))

interface Reading {
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
): Resource<A> => {
  const found = useSignal<Resource<A> & { readonly key: string }>({
    key,
    value: undefined,
    failure: undefined,
  })
  const reading = useRef<Reading | undefined>(undefined)
  const latest = useRef(read)
  latest.current = read
  const beat = beatOf(topics)
  const start = (): void => {
    if (reading.current?.key === key) {
      reading.current.again = true
      return
    }
    reading.current?.abort.abort()
    const mine: Reading = { key, abort: new AbortController(), again: false }
    reading.current = mine
    const settle = (outcome: Resource<A>) => {
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
  useLayoutEffect(start, [key, beat])
  useEffect(
    () => () => {
      reading.current?.abort.abort()
      reading.current = undefined
    },
    [],
  )
  return found.value.key === key ? found.value : { value: undefined, failure: undefined }
}

import type { ApiFailure } from "../api/ApiFailure.ts"

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

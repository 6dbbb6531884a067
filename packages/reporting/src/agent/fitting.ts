import type { OutgoingResult } from "./ResultQueue.ts"

const encoder = new TextEncoder()

/** The first results whose bodies fit into a batch together: at least one. */
export const fitting = <Result extends OutgoingResult>(
  results: ReadonlyArray<Result>,
  maxBytes: number,
): ReadonlyArray<Result> => {
  let bytes = 0
  const end = results.findIndex(({ body }, index) => {
    bytes += encoder.encode(body).length + 1
    return bytes > maxBytes && index > 0
  })
  return end < 0 ? results : results.slice(0, end)
}

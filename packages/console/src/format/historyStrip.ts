/** A change of a check, as the history has it. */
interface Change {
  readonly observed_at: string
  readonly status: string
}

/** A stretch of the strip during which the status was the same; places run from 0 to 1. */
export interface Stretch {
  readonly from: number
  readonly to: number
  readonly status: string
  readonly since: string
}

/**
 * The stretches of a check's history from `start` to `end`, true to time. Changes come newest first,
 * as the API lists them. What was before the oldest known change stays empty.
 */
export const stretchesOf = (
  changes: ReadonlyArray<Change>,
  { start, end }: { readonly start: number; readonly end: number },
): ReadonlyArray<Stretch> => {
  const span = Math.max(1, end - start)
  const place = (at: number) => Math.min(1, Math.max(0, (at - start) / span))
  const oldestFirst = changes
    .map(({ observed_at, status }) => ({ at: Date.parse(observed_at), status, since: observed_at }))
    .filter(({ at }) => Number.isFinite(at))
    .sort((a, b) => a.at - b.at)
  return oldestFirst.flatMap(({ at, status, since }, index) => {
    const stretch = { from: place(at), to: place(oldestFirst[index + 1]?.at ?? end), status, since }
    return stretch.to > stretch.from ? [stretch] : []
  })
}

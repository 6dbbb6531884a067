/**
 * Moments of the model: seconds, of which the fraction that one lacks to the next second says how much later it may
 * be.
 */
const FRACTION = 10_000

/** A second, or so much later. */
export const momentOf = (second: number, late: number): number => second - late / FRACTION

/** How much later a moment may be. */
export const lateOf = (time: number): number => Math.round((Math.ceil(time) - time) * FRACTION)

/** The later of two moments; of one instant, that which may be later. */
export const laterOf = (one: number, other: number): number =>
  Math.ceil(one) === Math.ceil(other) ? Math.min(one, other) : Math.max(one, other)

import { seeded } from "../processes/seeded.ts"

/** Choices that follow from a seed. */
export interface Draws {
  /** From 0 up to 1. */
  readonly next: () => number
  readonly chance: (probability: number) => boolean
  /** From 0 to `below` - 1. */
  readonly integer: (below: number) => number
  readonly pick: <A>(from: ReadonlyArray<A>) => A | undefined
  /** One of several; the list is never empty. */
  readonly oneOf: <const A>(...values: readonly [A, ...ReadonlyArray<A>]) => A
}

/** The choices of a seed. */
export const drawsOf = (seed: number): Draws => {
  const next = seeded(seed)
  const integer = (below: number) => Math.floor(next() * below)
  return {
    next,
    chance: (probability) => next() < probability,
    integer,
    pick: (from) => from[integer(from.length)],
    oneOf: (first, ...others) => [first, ...others][integer(others.length + 1)] ?? first,
  }
}

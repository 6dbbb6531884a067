import { Arbitrary, Schema } from "effect"

/** A whole number from `minimum` to `maximum`; shrinks towards 0. */
export const integer = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

/** Either of two; shrinks to `false`. */
export const boolean: Arbitrary.Arbitrary<boolean> = Arbitrary.schema(Schema.Boolean)

/** One of some values; shrinks towards the first. */
export const oneOf = <const A>(...values: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  // The index is one of an element: a type of `undefined` too is a value like any other.
  Arbitrary.map(integer(0, values.length - 1), (index) => values[index] as A)

/** A value of one of some kinds, each as likely as its weight; shrinks towards the first kind. */
export const weighted = <A>(
  ...kinds: readonly [Weighted<A>, ...ReadonlyArray<Weighted<A>>]
): Arbitrary.Arbitrary<A> => {
  const lots = kinds.flatMap(([weight, kind]) => Array.from({ length: weight }, () => kind))
  return Arbitrary.flatMap(integer(0, lots.length - 1), (lot) => lots[lot] ?? kinds[0][1])
}

/** A kind of value with how many lots it has. */
export type Weighted<A> = readonly [weight: number, kind: Arbitrary.Arbitrary<A>]

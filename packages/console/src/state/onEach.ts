import { ApiFailure, asFailure, isUnreached } from "../api/ApiFailure.ts"
import { countText, numberText } from "../format/times.ts"

interface Doing<Item> {
  /** Does it to one; a text says why there was nothing to do. */
  readonly does: (item: Item) => Promise<unknown>
  readonly nameOf: (item: Item) => string
  readonly noun: string
  /** The beginning of the message: `Deleted`. */
  readonly did: string
}

/** The end of an act on many. */
interface Done<Item> {
  readonly text: string
  /** Those that it failed for, or did not come to. */
  readonly left: ReadonlyArray<Item>
  /** Why, if any are left. */
  readonly failure: ApiFailure | undefined
}

type Reasons = Map<string, ReadonlyArray<string>>

const add = (reasons: Reasons, reason: string, name: string): void =>
  void reasons.set(reason, [...(reasons.get(reason) ?? []), name])

/** Names with what happened to them: `a, b (gone already)`; nothing without any. */
const told = (before: string, reasons: Reasons): ReadonlyArray<string> =>
  reasons.size === 0
    ? []
    : [before + Array.from(reasons, ([reason, names]) => `${names.join(", ")} (${reason})`).join("; ")]

const GONE = "gone already"

/** The answer of a deletion of what was not there. */
const isNothing = (answer: unknown): boolean => (Object(answer) as { readonly count?: unknown }).count === 0

/** Failures that the next one would have too. */
const endsAll = (failure: ApiFailure): boolean =>
  isUnreached(failure) || ["unauthorized", "forbidden", "rate_limited"].includes(failure.code)

/**
 * Does something to each of some items, one after another. A failure of one keeps none of the others from it, and is said
 * with its name. One that another person has deleted meanwhile is not a failure.
 */
export const onEach = async <Item>(items: ReadonlyArray<Item>, doing: Doing<Item>): Promise<Done<Item>> => {
  const { did, does, nameOf, noun } = doing
  const [idle, failed]: [Reasons, Reasons] = [new Map(), new Map()]
  const left: Array<Item> = []
  let first: ApiFailure | undefined
  let count = 0
  for (const [place, item] of items.entries()) {
    try {
      const answer = await does(item)
      const why = isNothing(answer) ? GONE : answer
      if (typeof why === "string") add(idle, why, nameOf(item))
      else count += 1
    } catch (error) {
      const failure = asFailure(error)
      if (failure.code === "not_found") {
        add(idle, GONE, nameOf(item))
        continue
      }
      first ??= failure
      const others = endsAll(failure) ? items.slice(place) : [item]
      left.push(...others)
      for (const other of others) add(failed, failure.message, nameOf(other))
      if (others.length > 1) break
    }
  }
  const all = countText(items.length, noun)
  const text = [
    `${did} ${first === undefined ? countText(count, noun) : `${numberText(count)} of ${all}`}`,
    ...told("left out ", idle),
    ...told("still selected: ", failed),
  ].join("; ")
  return { text, left, failure: first && new ApiFailure(first.code, text, first) }
}

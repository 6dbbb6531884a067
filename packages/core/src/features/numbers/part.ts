import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import type { Chore, ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import { expiryPause, type RetentionOptions } from "../../kernel/engine/commits/Retention.ts"
import { NumberMemory, numbersMetrics } from "./NumberMemory.ts"
import { recordNumbers } from "./recordNumbers.ts"
import { Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { FOLDED_AFTER, HOURS_KEPT, PART_KINDS, partKinds, startsIn } from "./NumberPart.ts"

/**
 * Removes numbers, also while no further ones are kept, and folds those of servers that are gone: a crash loop or a
 * deployment leaves parts of each start.
 */
const numbersChores = (
  { pieces: { rows: limit }, storage: { numbers } }: ChoreServices,
  { numbers: kept }: RetentionOptions,
): ReadonlyArray<Chore> => {
  if (numbers === undefined) return []
  const forever = Number.POSITIVE_INFINITY
  // A part ends a day after its start: the last hours of a day stay as long as others.
  const millis = kept === undefined ? forever : Duration.toMillis(kept) + PART_KINDS.day.length
  // Days have what hours had, and a reader may be about to read the oldest ones.
  const times = { hour: HOURS_KEPT + 2 * PART_KINDS.hour.length, day: millis, late: millis }
  const piece = Effect.gen(function* () {
    const now = Instant.toMillis(yield* Instant.now)
    const before = (time: number) => Math.max(0, now - time)
    for (const kind of partKinds)
      if (yield* numbers.expire({ kind, before: before(times[kind]), limit })) return true
    yield* numbers.expireSeries({ before: before(millis), now })
    return false
  })
  const fold = Effect.gen(function* () {
    const before = Instant.toMillis(yield* Instant.now) - FOLDED_AFTER
    const days = startsIn("day", before - 2 * PART_KINDS.day.length, before)
    yield* Effect.forEach(days, (start) => numbers.fold({ start, before }), { discard: true })
    return false
  })
  return [
    { name: "removing numbers after their time", pause: expiryPause, piece },
    { name: "folding numbers of servers that are gone", pause: expiryPause, piece: fold },
  ]
}

/** The part of numbers in the core. */
export const numbers = {
  beneath: NumberMemory.layer,
  follows: recordNumbers,
  chores: (services: ChoreServices, _: IncidentOptions, retention: RetentionOptions) =>
    numbersChores(services, retention),
  metrics: ["Requests and ingestion", numbersMetrics] as const,
}

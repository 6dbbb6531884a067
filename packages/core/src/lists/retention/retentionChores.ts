import { Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Chore, ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import { expiryPause, type RetentionOptions } from "../../kernel/engine/commits/Retention.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import { agedNames, agedTables, type RetentionName, RetentionRules } from "./RetentionRules.ts"

const PURGE_EVERY = Duration.seconds(10)

/**
 * Removes the rows of every rule whose time is known. Incidents, and what tells of them, stay at least as long as
 * they count for later ones.
 */
export const retentionChores = (
  { pieces: { rows: limit }, storage }: ChoreServices,
  retention: RetentionOptions,
  incidentsCountFor: () => Duration.Duration,
): ReadonlyArray<Chore> => {
  const expiry = (
    rule: RetentionName,
    after: keyof RetentionOptions | Duration.Duration,
  ): ReadonlyArray<Chore> => {
    const time = typeof after === "string" ? retention[after] : after
    if (time === undefined) return []
    // Each piece starts where the previous one ended.
    let last: string | undefined
    const piece = Effect.gen(function* () {
      const kept = after === "incidents" ? Duration.max(time, incidentsCountFor()) : time
      const before = Instant.minus(yield* Instant.now, kept)
      const result = yield* storage.expire({ rule, before, after: last, limit })
      last = result.after
      return result.isMore
    })
    return [{ name: `removing ${RetentionRules[rule].subject} after its time`, pause: expiryPause, piece }]
  }
  return [
    ...expiry("deleted_agents", Duration.zero).map((purge) => ({ ...purge, pause: idlePause(PURGE_EVERY) })),
    ...expiry("history", "history"),
    ...expiry("outbox", "outbox"),
    ...expiry("incidents", "incidents"),
    ...agedNames.flatMap((rule) => expiry(rule, agedTables[rule].after)),
  ]
}

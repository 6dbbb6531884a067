import { Context, Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Chore, ChoreServices } from "./Chore.ts"
import { idlePause } from "../../ports/IdlePause.ts"
import { agedNames, agedTables, type RetentionName, RetentionRules } from "../../retention/RetentionRules.ts"

/** The defaults of docs/rules.md#retention. */
export const defaultRetention = {
  history: Duration.days(93),
  incidents: Duration.days(365),
  outbox: Duration.days(30),
  pending: Duration.days(7),
  audit: Duration.days(400),
  numbers: Duration.days(93),
}

/** How long ended rows are kept; without a time, forever (docs/rules.md#retention). */
export type RetentionOptions = Readonly<Record<keyof typeof defaultRetention, Duration.Duration | undefined>>

export const Retention = Context.Reference<RetentionOptions>("@tocsin/core/kernel/engine/commits/Retention", {
  defaultValue: () => defaultRetention,
})

const PURGE_EVERY = Duration.seconds(10)
const EXPIRE_EVERY = Duration.minutes(10)

/** Between two looks for rows whose time is over. */
export const expiryPause = Effect.sleep(EXPIRE_EVERY)

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

import { Context, Duration, Effect } from "effect"

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

const EXPIRE_EVERY = Duration.minutes(10)

/** Between two looks for rows whose time is over. */
export const expiryPause = Effect.sleep(EXPIRE_EVERY)

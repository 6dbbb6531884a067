import { Effect } from "effect"
import type { Instant } from "@tocsin/contract/Instant"
import type { Instruments } from "../metrics/Instruments.ts"
import { TokenBuckets } from "./TokenBuckets.ts"

/**
 * One line a minute for each client address, so that a flood of requests does not flood the log.
 */
const LINES = { perMinute: 1, burst: 1 }
const ADDRESSES_KEPT = 10_000

/** Why a client is throttled. */
export type ThrottleReason = keyof Instruments["throttled"]

/** Counts the requests of throttled clients, and logs their addresses. */
export class ThrottledClients {
  readonly #counters: Instruments["throttled"]
  readonly #reason: ThrottleReason
  readonly #lines = new TokenBuckets(LINES, ADDRESSES_KEPT)

  constructor({ throttled }: Pick<Instruments, "throttled">, reason: ThrottleReason) {
    this.#counters = throttled
    this.#reason = reason
  }

  /** Records a refused request. */
  note(address: string, now: Instant): Effect.Effect<void> {
    this.#counters[this.#reason].value += 1
    return this.#lines.take(address, now).allowed
      ? Effect.annotateLogs(Effect.logWarning("a client is throttled"), {
          client: address,
          reason: this.#reason,
        })
      : Effect.void
  }
}

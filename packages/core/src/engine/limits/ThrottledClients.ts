import { Effect } from "effect"
import type { Instant } from "@tocsin/contract/Instant"
import type { Instruments } from "../metrics/Instruments.ts"
import { TokenBuckets } from "./TokenBuckets.ts"

/**
 * One line a minute for each client address, so that a flood of requests does not flood the log.
 */
const LINES = { perMinute: 1, burst: 1 }
const ADDRESSES_KEPT = 10_000

/** Counts what clients send too much of with keys that are not accepted, and logs their addresses. */
export class ThrottledClients {
  readonly #counter: Instruments["throttled"]["unknown_key"]
  readonly #lines = new TokenBuckets(LINES, ADDRESSES_KEPT)

  constructor({ throttled }: Pick<Instruments, "throttled">) {
    this.#counter = throttled.unknown_key
  }

  /** Records a refused request. */
  note(address: string, now: Instant): Effect.Effect<void> {
    this.#counter.value += 1
    return this.#lines.take(address, now).allowed
      ? Effect.annotateLogs(Effect.logWarning("a client is throttled"), {
          client: address,
          reason: "unknown_key",
        })
      : Effect.void
  }
}

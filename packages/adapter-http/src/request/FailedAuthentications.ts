import * as Instant from "@tocsin/core/contract/Instant"
import { ThrottledClients } from "@tocsin/core/engine/limits/ThrottledClients"
import { TokenBuckets } from "@tocsin/core/engine/limits/TokenBuckets"
import { CurrentInstruments } from "@tocsin/core/engine/metrics/Instruments"
import { Policy } from "@tocsin/core/ports/Policy"
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { requestAddress } from "./clientAddress.ts"

// Some ten megabytes at most, whatever the number of addresses.
const ADDRESSES_KEPT = 50_000

/** The refusal of a client that fails to authenticate too often. */
export interface Throttled {
  readonly message: string
  readonly retryAfterSeconds: number
}

/**
 * Counts failed authentications, and throttles each client address that has too many. A valid token always passes: clients
 * that share the address of the throttled one are not affected.
 */
export class FailedAuthentications extends Context.Service<
  FailedAuthentications,
  {
    /** Counts the present request, which has no valid token. Returns a refusal when its client has sent too many. */
    readonly count: Effect.Effect<Throttled | undefined, never, HttpServerRequest.HttpServerRequest>
  }
>()("@tocsin/adapter-http/request/FailedAuthentications") {
  /** `trustedHops` is how many proxies stand before the server. */
  static readonly layer = (trustedHops: number): Layer.Layer<FailedAuthentications> =>
    Layer.effect(
      FailedAuthentications,
      Effect.gen(function* () {
        const instruments = yield* CurrentInstruments
        const { failedAuthenticationRate } = yield* Policy
        const failures = new TokenBuckets(failedAuthenticationRate, ADDRESSES_KEPT)
        const throttled = new ThrottledClients(instruments, "failed_authentication")
        const addressOf = requestAddress(trustedHops)
        return FailedAuthentications.of({
          count: Effect.gen(function* () {
            instruments.failedAuthentications.value += 1
            const address = addressOf(yield* HttpServerRequest.HttpServerRequest)
            if (address === undefined) return undefined
            const now = yield* Instant.now
            const permission = failures.take(address, now)
            if (permission.allowed) return undefined
            yield* throttled.note(address, now)
            const { retryAfterSeconds } = permission
            return {
              message: `too many requests without a valid token from this address; try again in ${retryAfterSeconds} s`,
              retryAfterSeconds,
            }
          }),
        })
      }),
    )
}

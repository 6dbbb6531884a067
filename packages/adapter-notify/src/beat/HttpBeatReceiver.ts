import { type Beat, BeatReceiver, type TestReceipt } from "@tocsin/core/ports/Notifiers"
import { Duration, Effect, Layer, Option } from "effect"
import { below } from "../http/below.ts"
import { resultOfFailure } from "../http/deliveryResult.ts"
import { type Answer, makeExchange } from "../http/exchange.ts"
import type { TargetPolicy } from "../http/RefusedAddresses.ts"
import type { Target } from "../http/Target.ts"

const TIMEOUT = Duration.seconds(10)
const USER_AGENT = { "user-agent": "Tocsin" }

/** Where beats go: an address that `parseTarget` has read, and which addresses it may not lead to. */
export interface BeatReceiverOptions extends TargetPolicy {
  readonly target: Target
}

const answered = ({ status }: Answer): TestReceipt => ({
  status,
  result:
    status >= 200 && status < 300
      ? { outcome: "delivered" }
      : { outcome: "deferred", error: `The receiver answered ${status}: check SERVICE_BEAT_URL.` },
})

const silent: TestReceipt = {
  status: undefined,
  result: { outcome: "deferred", error: `The receiver did not answer within ${Duration.format(TIMEOUT)}.` },
}

const messageOf = (beat: Beat) => {
  if (beat.isWell) return { method: "GET", body: "", headers: USER_AGENT } as const
  return {
    body: beat.text,
    headers: {
      ...USER_AGENT,
      "content-type": "text/plain; charset=utf-8",
      "content-length": Buffer.byteLength(beat.text).toString(),
    },
  }
}

/**
 * Sends beats by the conventions of healthchecks.io: GET of the address while all is well, POST of what is wrong, as plain text,
 * to `/fail` below it. Guarded as notifiers are: refused addresses, no redirects, connections of its own (docs/rules.md#targets).
 */
export const layer = (options: BeatReceiverOptions): Layer.Layer<BeatReceiver> =>
  Layer.effect(
    BeatReceiver,
    Effect.gen(function* () {
      const limits = { ...options, timeout: TIMEOUT }
      const well = yield* makeExchange(options.target, limits)
      const failing = yield* makeExchange(below(options.target, "/fail"), limits)
      return BeatReceiver.of({
        send: (beat) =>
          (beat.isWell ? well : failing)(messageOf(beat)).pipe(
            Effect.map(Option.match({ onNone: () => silent, onSome: answered })),
            Effect.catch(({ code }) =>
              Effect.succeed<TestReceipt>({ status: undefined, result: resultOfFailure(code) }),
            ),
          ),
      })
    }),
  )

import * as Instant from "@tocsin/core/contract/Instant"
import type { TestReceipt } from "@tocsin/core/ports/Notifiers"
import type { NotifierKind } from "@tocsin/core/contract/Status"
import { Duration, Effect, Option, type Redacted, type Scope } from "effect"
import { BadNotifierSetting } from "../BadNotifierSetting.ts"
import { below } from "./below.ts"
import { resultOfFailure, resultOfStatus } from "./deliveryResult.ts"
import { type Answer, makeExchange, type NoAnswer } from "./exchange.ts"
import type { TargetPolicy } from "./RefusedAddresses.ts"
import { parseRetryAfter } from "./retryAfter.ts"
import { parseTarget } from "./Target.ts"
import { traceContext } from "./traceContext.ts"

/** What notifiers that post have in common. */
export interface PostingOptions extends TargetPolicy {
  /** From the start of an attempt to its result: see `sendTimeout`. */
  readonly timeout: Duration.Duration
}

/** How one receiver is posted to. */
export interface HttpPostOptions extends PostingOptions {
  readonly notifier: NotifierKind
  /** Which setting holds the address, for a problem with it. */
  readonly setting: BadNotifierSetting["setting"]
  readonly address: Redacted.Redacted
  /** A path below the address, which then is a base address. */
  readonly path?: string
  /** Finds in an answer's body how many seconds the receiver asks to wait, for those that do not say it in a header. */
  readonly retryAfterOf?: (body: string) => number | undefined
}

/** Makes one attempt to post a JSON text; what goes wrong is a result. */
export type HttpPost = (
  json: string,
  headers?: Readonly<Record<string, string>>,
) => Effect.Effect<TestReceipt>

/** A poster to one receiver, with connections of its own that close with the scope (docs/rules.md#outbox, docs/rules.md#notifiers). */
export const makeHttpPost = Effect.fnUntraced(function* (
  options: HttpPostOptions,
): Effect.fn.Return<HttpPost, BadNotifierSetting, Scope.Scope> {
  const { notifier, setting } = options
  const target = yield* Effect.fromResult(parseTarget(options.address, options)).pipe(
    Effect.mapError((message) => new BadNotifierSetting({ notifier, setting, message })),
  )
  const exchange = yield* makeExchange(
    options.path === undefined ? target : below(target, options.path),
    options,
  )
  const answered = ({ status, retryAfter, body }: Answer) =>
    Effect.map(Instant.now, (now): TestReceipt => {
      const seconds = parseRetryAfter(retryAfter, now) ?? options.retryAfterOf?.(body)
      return { status, result: resultOfStatus(status, seconds) }
    })
  const failed = ({ code }: NoAnswer): TestReceipt => ({ status: undefined, result: resultOfFailure(code) })
  const silent: TestReceipt = {
    status: undefined,
    result: {
      outcome: "deferred",
      error: `The receiver did not answer within ${Duration.format(options.timeout)}.`,
    },
  }
  return (json, headers = {}) =>
    traceContext.pipe(
      Effect.flatMap((trace) =>
        exchange({
          body: json,
          headers: {
            ...headers,
            ...trace,
            "content-type": "application/json",
            "content-length": Buffer.byteLength(json).toString(),
            "user-agent": "Tocsin",
          },
        }),
      ),
      Effect.flatMap(Option.match({ onNone: () => Effect.succeed(silent), onSome: answered })),
      Effect.catch((failure) => Effect.succeed(failed(failure))),
    )
})

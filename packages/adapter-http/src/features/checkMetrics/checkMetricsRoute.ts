import { createGzip } from "node:zlib"
import { type Matcher, parseMatcher } from "@tocsin/contract/labels/Matcher"
import { Operators } from "@tocsin/core/heart/usecases/Operators"
import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { CheckMetrics } from "@tocsin/core/lists/CheckMetrics"
import { Duration, Effect, Result, Semaphore, type Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Access from "../../request/access.ts"
import { FailedAuthentications, judge } from "../../request/authentication.ts"
import { cutConnection } from "../../response/cutConnection.ts"
import { errorResponse, type Failure, failureOfCause } from "../../response/failures.ts"
import { RequestId } from "../../response/headerFields.ts"
import type { KnownRoute } from "../../routes.ts"
import { checkMetricsText } from "./checkMetricsText.ts"

export const CHECK_METRICS_ROUTE = { method: "GET", path: "/metrics/checks" } as const satisfies KnownRoute

export interface CheckMetricsOptions {
  /** Keys of labels, at most 10, of which `tocsin_check_info` has the values. */
  readonly labels: ReadonlyArray<string>
}

const TEXT = "text/plain; version=0.0.4; charset=utf-8"
const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
/** One is answered, and so many wait. */
const MOST_WAITING = 3
const RETRY_SECONDS = 5
/** A reader that takes longer is cut, so that others are answered. */
const ANSWERED_WITHIN = Duration.seconds(60)

const tooMany: Failure<"not_ready"> = {
  code: "not_ready",
  message: "other scrapes of checks are under way; try again later",
  retryAfterSeconds: RETRY_SECONDS,
}
const noStorage: Failure<"not_ready"> = {
  code: "not_ready",
  message: "the storage cannot be read now; try again later",
  retryAfterSeconds: RETRY_SECONDS,
}

const matchersIn = (url: string): Result.Result<ReadonlyArray<Matcher>, Failure<"validation">> =>
  Result.mapError(
    Result.all(new URL(url, "http://localhost").searchParams.getAll("match").map(parseMatcher)),
    (problem): Failure<"validation"> => ({ code: "validation", message: `match ${problem}` }),
  )

const accepts = (field: string | undefined, name: string): boolean =>
  (field ?? "")
    .toLowerCase()
    .split(",")
    .some((one) => {
      const [token = "", ...parameters] = one.split(";").map((part) => part.trim())
      return token === name && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
    })

/** Loaded where it is needed: the library, whose programs may serve nothing, loads the routes. */
const gzipped = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  Effect.promise(() => import("@effect/platform-node/NodeStream")).pipe(
    Effect.map(({ pipeThroughDuplex }) =>
      pipeThroughDuplex(bytes, { evaluate: () => createGzip({ level: 1 }) }),
    ),
  )

/** Serves metrics of checks (docs/rules.md#metrics-of-checks). */
export const layer = (tokens: Access.ServiceTokens & { readonly checkMetrics: CheckMetricsOptions }) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const { note } = yield* FailedAuthentications
      const access = Access.make(tokens, yield* Hashing)
      const [operators, sessions] = yield* Effect.all([Operators, Sessions])
      const { checkMetrics } = yield* CheckMetrics
      const turn = yield* Semaphore.make(1)
      let scrapes = 0
      const { labels } = tokens.checkMetrics
      const text = Effect.fnUntraced(function* (match: ReadonlyArray<Matcher>, isOpenMetrics: boolean) {
        return checkMetricsText(yield* checkMetrics(match), { labels, isOpenMetrics })
      })
      const answer = Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { headers, url } = request
        const respond = (failure: Failure) => Effect.map(RequestId, (id) => errorResponse(failure, id))
        if (!access.scrapes(headers["authorization"])) {
          const judged = yield* Effect.result(judge({ access, operators, sessions }, request, "read"))
          if (Result.isFailure(judged)) return yield* respond(noStorage)
          if (Result.isFailure(judged.success)) {
            yield* note(judged.success.failure)
            return yield* respond(judged.success.failure)
          }
        }
        const match = matchersIn(url)
        if (Result.isFailure(match)) return yield* respond(match.failure)
        if (scrapes > MOST_WAITING) return yield* respond(tooMany)
        yield* Effect.acquireRelease(
          Effect.sync(() => void (scrapes += 1)),
          () => Effect.sync(() => void (scrapes -= 1)),
        )
        yield* Effect.acquireRelease(turn.take(1), () => turn.release(1), { interruptible: true })
        const isOpenMetrics = accepts(headers["accept"], "application/openmetrics-text")
        const made = yield* Effect.result(
          Effect.catchCause(text(match.success, isOpenMetrics), (cause) =>
            Effect.andThen(failureOfCause(cause), Effect.fail(noStorage)),
          ),
        )
        if (Result.isFailure(made)) return yield* respond(made.failure)
        const isPacked = accepts(headers["accept-encoding"], "gzip")
        const body: Stream.Stream<Uint8Array, unknown> = isPacked
          ? yield* gzipped(made.success)
          : made.success
        yield* Effect.forkScoped(Effect.andThen(Effect.sleep(ANSWERED_WITHIN), cutConnection(request)))
        return HttpServerResponse.stream(body, {
          contentType: isOpenMetrics ? OPEN_METRICS : TEXT,
          headers: {
            "cache-control": "no-store",
            vary: "accept, accept-encoding",
            ...(isPacked && { "content-encoding": "gzip" }),
          },
        })
      })
      yield* router.add(CHECK_METRICS_ROUTE.method, CHECK_METRICS_ROUTE.path, answer)
    }),
  )

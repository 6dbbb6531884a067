import { IncomingMessage, ServerResponse } from "node:http"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { Clock, Context, Duration, Effect, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { cutConnection } from "../../response/cutConnection.ts"
import { toApiError } from "../../response/failures.ts"
import { encodingInPlace } from "./encodingInPlace.ts"
import { exportedLines } from "./exportedLines.ts"

/** A reader that takes no piece for so long is cut: another one may be waiting. */
export const TakenWithin = Context.Reference<Duration.Duration>(
  "@tocsin/adapter-http/features/export/TakenWithin",
  { defaultValue: () => Duration.seconds(60) },
)

/**
 * Whether the system has all that was written. A program that wraps the response, to compress it, may still read that.
 * Loaded where it is needed, as the library loads the routes.
 */
const takingOf = (request: HttpServerRequest.HttpServerRequest) =>
  request.source instanceof IncomingMessage
    ? Effect.map(
        Effect.promise(() => import("@effect/platform-node/NodeHttpServerRequest")),
        ({ toServerResponse }) => {
          const response = toServerResponse(request)
          const isWrapped = response.write !== ServerResponse.prototype.write
          return () => !isWrapped && response.writableLength === 0
        },
      )
    : Effect.succeed(() => false)

/** The endpoint of exports (docs/rules.md#export). */
export const exported = HttpApiBuilder.group(
  OpsApi,
  "export",
  Effect.fnUntraced(function* (handlers) {
    const linesOf = yield* exportedLines
    const { draining } = yield* Readiness
    const takenWithin = Duration.toNanosUnsafe(yield* TakenWithin)
    const now = Clock.clockWith((clock) => Effect.sync(() => clock.monotonicTimeNanosUnsafe()))
    return handlers.handleRaw(
      "exportRows",
      Effect.fnUntraced(function* ({ query, request }) {
        const lines = yield* toApiError(linesOf(query))
        let takenAt = yield* now
        const pieces = lines.pipe(
          Stream.map(encodingInPlace(yield* takingOf(request))),
          Stream.flattenIterable,
          Stream.rechunk(1),
          Stream.tap(() => Effect.map(now, (at) => void (takenAt = at))),
          Stream.interruptWhen(draining),
        )
        const untilStuck = Effect.gen(function* () {
          const left = takenWithin - ((yield* now) - takenAt)
          if (left <= 0n) return true
          yield* Effect.sleep(Duration.nanos(left))
          return false
        })
        yield* Effect.forkScoped(
          Effect.andThen(Effect.repeat(untilStuck, { until: (isStuck) => isStuck }), cutConnection(request)),
        )
        return HttpServerResponse.stream(pieces, {
          contentType: "application/x-ndjson",
          headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
        })
      }),
    )
  }),
)

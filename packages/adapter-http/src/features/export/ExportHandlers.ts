import { IncomingMessage, ServerResponse } from "node:http"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { Clock, Context, Duration, Effect, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { cutConnection } from "../../response/cutConnection.ts"
import { toApiError } from "../../response/failures.ts"
import { exportedLines, textOf } from "./exportedLines.ts"

/** So many bytes and more are written together, which a socket does not take before it has written the former. */
const PART = 65_536

/**
 * Encodes each piece where the former was, if that is written. Pieces with memory of their own, and texts of several
 * lines, would stay until all memory is looked through: some 60 MB later.
 */
export const encodingInPlace = (isWritten: () => boolean) => {
  let place = Buffer.allocUnsafeSlow(PART)
  return (lines: ReadonlyArray<object>): ReadonlyArray<Uint8Array> => {
    if (!isWritten()) place = Buffer.allocUnsafeSlow(place.length)
    let size = 0
    for (const line of lines) {
      const text = textOf([line])
      const end = size + Buffer.byteLength(text)
      if (end > place.length) place = Buffer.concat([place.subarray(0, size)], 2 * end)
      place.write(text, size)
      size = end
    }
    const count = Math.max(1, Math.floor(size / PART))
    const length = Math.ceil(size / count)
    return Array.from({ length: count }, (_, n) =>
      place.subarray(n * length, Math.min(size, (n + 1) * length)),
    )
  }
}

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

import { IncomingMessage } from "node:http"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { Clock, Context, Duration, Effect, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { toApiError } from "../../response/failures.ts"
import { exportedLines, textOf } from "./exportedLines.ts"

/** A reader that takes no piece for so long is cut: another one may be waiting. */
export const TakenWithin = Context.Reference<Duration.Duration>(
  "@tocsin/adapter-http/features/export/TakenWithin",
  { defaultValue: () => Duration.seconds(60) },
)
/** Characters that are written together, so that a slow reader is seen to read. */
const PIECE = 65_536

const piecesOf = (lines: ReadonlyArray<object>): ReadonlyArray<string> => {
  const text = textOf(lines)
  return Array.from({ length: Math.ceil(text.length / PIECE) }, (_, n) =>
    text.slice(n * PIECE, (n + 1) * PIECE),
  )
}

const cut = ({ source }: HttpServerRequest.HttpServerRequest) =>
  Effect.sync(() => void (source instanceof IncomingMessage && source.socket.destroy()))

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
        const texts = lines.pipe(
          Stream.map(piecesOf),
          Stream.flattenIterable,
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
          Effect.andThen(Effect.repeat(untilStuck, { until: (isStuck) => isStuck }), cut(request)),
        )
        return HttpServerResponse.stream(Stream.encodeText(texts), {
          contentType: "application/x-ndjson",
          headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
        })
      }),
    )
  }),
)

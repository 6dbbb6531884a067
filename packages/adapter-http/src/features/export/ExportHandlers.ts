import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { Clock, Context, Duration, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { cutConnection } from "../../response/cutConnection.ts"
import { toApiError } from "../../response/failures.ts"
import { exportedLines, textOf } from "./exportedLines.ts"

/** A reader that takes no piece for so long is cut: another one may be waiting. */
export const TakenWithin = Context.Reference<Duration.Duration>(
  "@tocsin/adapter-http/features/export/TakenWithin",
  { defaultValue: () => Duration.seconds(60) },
)
/** About as many bytes are written together. Longer texts would stay until all memory is looked through. */
const PIECE = 65_536

const piecesOf = (lines: ReadonlyArray<object>): ReadonlyArray<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  let [parts, size]: [Array<Uint8Array>, number] = [[], 0]
  for (const [place, line] of lines.entries()) {
    const part = Buffer.from(textOf([line]))
    parts.push(part)
    size += part.length
    if (size < PIECE && place < lines.length - 1) continue
    pieces.push(Buffer.concat(parts))
    parts = []
    size = 0
  }
  return pieces
}

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

import { assert, describe, it } from "@effect/vitest"
import { Effect, Tracer } from "effect"
import { sampledTracer } from "../../src/telemetry/openTelemetry.ts"
import { readSettings } from "../../src/settings/checkedSettings.ts"
import type { Settings } from "../../src/settings/Settings.ts"

const settingsOf = (sampler: string, ratio: string): Settings =>
  // Without a problem every setting has its value.
  readSettings({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio }).values as Settings

/** The spans that a tracer is asked for, by whether they are kept. */
const kept = Effect.fnUntraced(function* (
  sampler: string,
  ratio: string,
  parents: ReadonlyArray<Tracer.AnySpan | undefined>,
) {
  const tracer = sampledTracer(Tracer.nativeTracer, settingsOf(sampler, ratio))
  return yield* Effect.forEach(parents, (parent) =>
    Effect.useSpan("request", { parent }, (span) => Effect.succeed(span.sampled)).pipe(
      Effect.withTracer(tracer),
    ),
  )
})

const callerOf = (traceId: string, sampled: boolean) =>
  Tracer.externalSpan({ traceId, spanId: "00f067aa0ba902b7", sampled })

const EARLY = "0000000000000000000000000000000f"
const LATE = "ffffffffffffffffffffffffffffffff"

describe("a sampler", () => {
  it.effect("that follows its caller does as the caller did, and decides where there is none", () =>
    Effect.gen(function* () {
      const parents = [undefined, callerOf(LATE, true), callerOf(EARLY, false)]
      assert.deepStrictEqual(yield* kept("parentbased_always_on", "1", parents), [true, true, false])
      assert.deepStrictEqual(yield* kept("parentbased_always_off", "1", parents), [false, true, false])
      assert.deepStrictEqual(yield* kept("parentbased_traceidratio", "0", parents), [false, true, false])
    }),
  )

  it.effect("that does not decides by the trace's id, the same wherever it is asked", () =>
    Effect.gen(function* () {
      const parents = [callerOf(EARLY, false), callerOf(LATE, true)]
      assert.deepStrictEqual(yield* kept("traceidratio", "0.5", parents), [true, false])
      assert.deepStrictEqual(yield* kept("traceidratio", "0", parents), [false, false])
      assert.deepStrictEqual(yield* kept("always_on", "0", parents), [true, true])
      assert.deepStrictEqual(yield* kept("always_off", "1", parents), [false, false])
    }),
  )

  it.effect("keeps about the share that it is asked for, and the spans of a trace together", () =>
    Effect.gen(function* () {
      const roots = yield* kept(
        "traceidratio",
        "0.25",
        Array.from({ length: 4_000 }, () => undefined),
      )
      // Five standard deviations.
      assert.closeTo(roots.filter((isKept) => isKept).length, 1_000, 140)

      const tracer = sampledTracer(Tracer.nativeTracer, settingsOf("traceidratio", "0.5"))
      for (let trace = 0; trace < 20; trace += 1) {
        const nested = Effect.useSpan("outer", (outer) =>
          Effect.useSpan("inner", { parent: outer }, (inner) =>
            Effect.succeed([outer.sampled, inner.sampled]),
          ),
        )
        const [outer, inner] = yield* Effect.withTracer(nested, tracer)
        assert.strictEqual(inner, outer)
      }
    }),
  )
})

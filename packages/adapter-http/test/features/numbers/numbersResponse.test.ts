import { assert, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { NumbersAnswer } from "@tocsin/contract/numbers/Numbers"
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { numbersResponse } from "../../../src/features/numbers/numbersResponse.ts"

const span = (n: number) => ({
  at: Instant.fromMillis(n * 300_000),
  count: n,
  min: -n,
  max: n,
  mean: 0.5,
  last: 1e-7,
})

it.effect("numbers over time are written in pieces as they would be at once, and once for equal reads", () =>
  Effect.gen(function* () {
    for (const length of [0, 1, 999, 1_000, 2_500]) {
      const spans = Array.from({ length }, (_, n) => span(n))
      const series = ['"größe"', "/ free", "x"].map((name) => ({ name, unit: "%", spans }))
      for (const answer of [
        { step: "5m" as const, series },
        { step: "1h" as const, series: [] },
      ]) {
        const [text, again] = yield* Effect.all([numbersResponse(answer), numbersResponse(answer)], {
          concurrency: "unbounded",
        })
        const whole = JSON.stringify(Schema.encodeSync(NumbersAnswer)(answer))
        assert.strictEqual(yield* Effect.promise(() => HttpServerResponse.toWeb(text).text()), whole)
        assert.deepStrictEqual(text.body, again.body)
      }
    }
  }),
)

import * as Instant from "@tocsin/contract/formats/Instant"
import type { NumbersAnswer } from "@tocsin/contract/numbers/Numbers"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"

/** Spans whose text is made in one turn of the event loop: some milliseconds. */
const PIECE = 1_000

/** The text of an answer, made in pieces: one of a quarter has megabytes, and results pass meanwhile. */
const textOf = Effect.fnUntraced(function* ({ series, step }: NumbersAnswer) {
  const texts: Array<string> = []
  for (const { spans, ...named } of series) {
    const pieces: Array<string> = []
    for (let first = 0; first < spans.length; first += PIECE) {
      const piece = spans
        .slice(first, first + PIECE)
        .map(({ at, ...span }) => ({ at: Instant.format(at), ...span }))
      pieces.push(JSON.stringify(piece).slice(1, -1))
      yield* Effect.yieldNow
    }
    texts.push(`${JSON.stringify(named).slice(0, -1)},"spans":[${pieces.join(",")}]}`)
  }
  return `{"step":${JSON.stringify(step)},"series":[${texts.join(",")}]}`
})

/** Equal reads at one moment have one answer, and one text. */
const texts = new WeakMap<NumbersAnswer, Effect.Effect<string>>()

/** Answers with numbers over time. */
export const numbersResponse = Effect.fnUntraced(function* (answer: NumbersAnswer) {
  const text = texts.get(answer) ?? (yield* Effect.cached(textOf(answer)))
  texts.set(answer, text)
  return HttpServerResponse.text(yield* text, { contentType: "application/json" })
})

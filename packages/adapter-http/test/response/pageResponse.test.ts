import { assert, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { pageResponse } from "../../src/response/pageResponse.ts"

const Page = Schema.Struct({
  note: Schema.String,
  items: Schema.Array(Schema.Struct({ at: Instant.InstantFromString })),
  next_cursor: Schema.NullOr(Schema.String),
})

it.effect("a long page is encoded in pieces as it would be at once, and others are left as they are", () =>
  Effect.gen(function* () {
    const write = pageResponse(Page)
    for (const length of [0, 2, 3, 50, 51, 100, 500]) {
      const items = Array.from({ length }, (_, n) => ({ at: Instant.fromMillis(n) }))
      const page = { note: '"items":[]', items, next_cursor: null }
      let turns = 0
      const count = () => {
        turns += 1
        next = setImmediate(count)
      }
      let next = setImmediate(count)
      const answer = yield* write(page)
      clearImmediate(next)
      if (length <= 2) assert.strictEqual(answer, page)
      else {
        assert.isTrue(HttpServerResponse.isHttpServerResponse(answer))
        const text = HttpServerResponse.isHttpServerResponse(answer)
          ? HttpServerResponse.toWeb(answer).text()
          : ""
        assert.strictEqual(
          yield* Effect.promise(async () => await text),
          JSON.stringify(Schema.encodeSync(Page)(page)),
        )
        assert.isAtLeast(turns, length / 50 - 1)
      }
    }
    assert.strictEqual(yield* write("text"), "text")
  }),
)

it.effect("long items are encoded a few at a time", () =>
  Effect.gen(function* () {
    const Texts = Schema.Struct({ items: Schema.Array(Schema.String) })
    const write = pageResponse(Texts)
    let turns = 0
    const count = () => {
      turns += 1
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    yield* write({ items: Array.from({ length: 20 }, () => "x".repeat(100_000)) })
    clearImmediate(next)
    assert.isAtLeast(turns, 15)
  }),
)

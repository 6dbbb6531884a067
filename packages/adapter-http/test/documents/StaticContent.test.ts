import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import * as StaticContent from "../../src/documents/StaticContent.ts"

it.effect("a text is held once, however many ask for it uncompressed", () =>
  Effect.gen(function* () {
    const content = yield* StaticContent.make("a text ".repeat(1_000), { "content-type": "text/plain" })
    const ask = StaticContent.respond(content).pipe(
      Effect.provideService(
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(new Request("http://a/")),
      ),
      Effect.map(({ body }) => (body._tag === "Uint8Array" ? body.body : undefined)),
    )
    const [first, ...others] = yield* Effect.all([ask, ask, ask], { concurrency: "unbounded" })
    assert.strictEqual(Buffer.from(first ?? []).toString(), "a text ".repeat(1_000))
    for (const other of others) assert.isTrue(other === first)
  }),
)

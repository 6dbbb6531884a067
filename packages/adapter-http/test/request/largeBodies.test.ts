import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { readJson } from "../../src/request/RequestBody.ts"
import { RequestId } from "../../src/response/headerFields.ts"
import { heartbeat } from "../http.ts"
import { REQUEST_ID } from "../TestServer.ts"

/** Counts the turns of the event loop until its scope closes. */
const turnsOfLoop = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const counted = { turns: 0, isOver: false }
      const next = (): void => {
        counted.turns += 1
        if (!counted.isOver) setImmediate(next)
      }
      next()
      return counted
    }),
    (counted) =>
      Effect.sync(() => {
        counted.isOver = true
      }),
  ),
  (counted) => () => counted.turns,
)

const LARGE = JSON.stringify(heartbeat).padEnd(1_000_000, " ")

it.live("large bodies are parsed one a turn, and small ones immediately", () =>
  Effect.gen(function* () {
    const turn = yield* turnsOfLoop
    const delaysOf = (body: string) =>
      Effect.forEach(
        Array.from({ length: 5 }, () =>
          HttpServerRequest.fromWeb(new Request("http://a/", { method: "POST", body })),
        ),
        (request) => Effect.map(readJson(request), turn),
        { concurrency: "unbounded" },
      )
    assert.strictEqual(new Set(yield* delaysOf(LARGE)).size, 5)
    assert.isBelow(new Set(yield* delaysOf(JSON.stringify(heartbeat))).size, 5)
  }).pipe(Effect.provideService(RequestId, REQUEST_ID), Effect.scoped),
)

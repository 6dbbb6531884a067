import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { webHandler } from "../src/webHandler.ts"
import { agent, heartbeat } from "./http.ts"
import { REQUEST_ID, stubServices } from "./TestServer.ts"

const mounted = Effect.acquireRelease(
  Effect.sync(() =>
    webHandler(
      { uiTokens: [Redacted.make("operator-token")] },
      stubServices({ ingest: { heartbeat: () => Effect.succeed({ accepted: true }) } }),
    ),
  ),
  ({ dispose }) => Effect.promise(dispose),
)

it.effect("the API is a fetch handler", () =>
  Effect.gen(function* () {
    const { handler } = yield* mounted
    const fetched = (path: string, init?: RequestInit) =>
      Effect.promise(async () => {
        const response = await handler(new Request(`http://any.host${path}`, init))
        return { status: response.status, headers: response.headers, body: await response.text() }
      })
    const taken = yield* fetched("/api/v1/heartbeat", {
      method: "POST",
      headers: agent,
      body: JSON.stringify(heartbeat),
    })
    assert.strictEqual(taken.status, 202)
    assert.strictEqual(taken.body, '{"accepted":true}')
    assert.strictEqual(taken.headers.get("x-request-id"), REQUEST_ID)
    const refused = yield* fetched("/api/v1/heartbeat", {
      method: "POST",
      headers: agent,
      body: "x".repeat(1_048_577),
    })
    assert.strictEqual(refused.status, 413)
    assert.strictEqual((yield* fetched("/api/v1/agents")).status, 401)
    assert.strictEqual((yield* fetched("/nowhere")).status, 404)
  }),
)

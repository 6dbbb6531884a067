import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { agent, heartbeat, send } from "../http.ts"
import { testServer } from "../TestServer.ts"

const stubs = { ingest: { heartbeat: () => Effect.succeed({ accepted: true }) } }

layer(testServer(stubs), { excludeTestServices: true })("the protection of browsers", (it) => {
  it.effect("is on all that a browser may show, errors too", () =>
    Effect.gen(function* () {
      for (const method of ["GET", "HEAD"]) {
        for (const path of ["/api/v1/health", "/api/v1/agents", "/nowhere", "/openapi.json"]) {
          const { headers } = yield* send(method, path)
          assert.strictEqual(headers["x-content-type-options"], "nosniff", path)
          assert.strictEqual(
            headers["content-security-policy"],
            "default-src 'none'; frame-ancestors 'none'",
            path,
          )
          assert.strictEqual(headers["cross-origin-resource-policy"], "same-origin", path)
          assert.strictEqual(headers["referrer-policy"], "no-referrer", path)
          // A server without TLS cannot promise it; the proxy in front does.
          assert.isUndefined(headers["strict-transport-security"], path)
        }
      }
    }),
  )

  it.effect("costs agents no more than two fields", () =>
    Effect.gen(function* () {
      const { status, headers } = yield* send("POST", "/api/v1/heartbeat", {
        headers: agent,
        body: JSON.stringify(heartbeat),
      })
      assert.strictEqual(status, 202)
      assert.sameMembers(
        Object.keys(headers).filter((name) => !["date", "connection", "keep-alive"].includes(name)),
        ["content-type", "content-length", "x-request-id", "cache-control", "x-content-type-options"],
      )
    }),
  )

  it.effect("no cache keeps an answer without its own caching rule", () =>
    Effect.gen(function* () {
      for (const path of ["/api/v1/health", "/nowhere", "/ops/v1/nowhere"]) {
        assert.strictEqual((yield* send("GET", path)).headers["cache-control"], "no-store", path)
      }
    }),
  )
})

import { assert, describe, layer } from "@effect/vitest"
import { RateLimited } from "@tocsin/core/heart/admission/AdmissionErrors"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { agent, heartbeat, operator, type Received, send } from "../http.ts"
import { type Stubs, testServer } from "../TestServer.ts"

const ORIGIN = "https://dashboard.example"
const from = (origin: string) => ({ origin })
const asking = (method: string, origin = ORIGIN) => ({
  origin,
  "access-control-request-method": method,
  "access-control-request-headers": "authorization, content-type",
})

const stubs: Stubs = {
  admission: { remove: () => Effect.succeed({ count: 1 }) },
  queries: {
    summary: Effect.fail(new StorageError({ reason: "unavailable", message: "away" })),
    agent: () => Effect.die(new Error("a defect")),
  },
  ingest: {
    heartbeat: (_key, { agent_id }) =>
      agent_id === "limited"
        ? Effect.fail(new RateLimited({ message: "later", retryAfterSeconds: 7 }))
        : Effect.succeed({ accepted: true }),
  },
}

const ofCors = ({ headers }: Received) =>
  Object.keys(headers).filter((name) => name.startsWith("access-control-"))

/** Requests that end in every status that the API has. */
const requests = [
  ["GET", "/api/v1/health", 200, {}],
  ["DELETE", "/api/v1/agents/a", 200, operator],
  ["POST", "/api/v1/heartbeat", 202, agent, JSON.stringify(heartbeat)],
  ["POST", "/api/v1/heartbeat", 400, agent, "{"],
  ["GET", "/api/v1/agents", 401, {}],
  ["GET", "/nowhere", 404, {}],
  ["POST", "/api/v1/heartbeat", 413, agent, " ".repeat(1_048_577)],
  ["POST", "/api/v1/heartbeat", 429, agent, JSON.stringify({ ...heartbeat, agent_id: "limited" })],
  ["GET", "/api/v1/system-summary", 500, operator],
  ["GET", "/api/v1/agents/a", 500, operator],
] as const

const sendAll = (headers: Readonly<Record<string, string>>) =>
  Effect.forEach(requests, ([method, path, status, own, body]) =>
    Effect.tap(
      send(method, path, { headers: { ...own, ...headers }, ...(body !== undefined && { body }) }),
      (received) => Effect.sync(() => assert.strictEqual(received.status, status, path)),
    ),
  )

describe("with allowed origins", () => {
  layer(testServer(stubs, { allowedOrigins: [ORIGIN, "http://localhost:3000"] }), {
    excludeTestServices: true,
  })((it) => {
    it.effect("their pages can read every answer, errors too", () =>
      Effect.gen(function* () {
        for (const origin of [ORIGIN, "http://localhost:3000"]) {
          for (const { headers } of yield* sendAll(from(origin))) {
            assert.strictEqual(headers["access-control-allow-origin"], origin)
            assert.strictEqual(
              headers["access-control-expose-headers"],
              "retry-after, www-authenticate, x-request-id",
            )
            assert.strictEqual(headers["vary"], "Origin")
            assert.isUndefined(headers["access-control-allow-credentials"])
          }
        }
      }),
    )

    it.effect("other pages cannot", () =>
      Effect.gen(function* () {
        for (const origin of [
          `${ORIGIN}/`,
          `${ORIGIN}:443`,
          `${ORIGIN}.evil.example`,
          "null",
          "",
          "*",
          "HTTPS://dashboard.example",
        ]) {
          for (const received of yield* sendAll(from(origin))) assert.deepStrictEqual(ofCors(received), [])
          const preflight = yield* send("OPTIONS", "/api/v1/agents", { headers: asking("GET", origin) })
          assert.deepStrictEqual([preflight.status, ofCors(preflight)], [404, []])
        }
      }),
    )

    it.effect("nothing changes for those who are no browser, but that caches are told", () =>
      Effect.gen(function* () {
        for (const [index, received] of (yield* sendAll({})).entries()) {
          assert.deepStrictEqual(ofCors(received), [])
          const isPost = requests[index]?.[0] === "POST"
          assert.strictEqual(received.headers["vary"], isPost ? undefined : "Origin")
        }
      }),
    )

    it.effect("a browser that asks before is told the methods of that path", () =>
      Effect.gen(function* () {
        for (const [path, methods] of [
          ["/api/v1/agents", "GET, HEAD"],
          ["/api/v1/agents/a", "GET, HEAD, DELETE"],
          ["/api/v1/agents/a?x=1", "GET, HEAD, DELETE"],
          ["/api/v1/heartbeat", "POST"],
          ["/openapi.json", "GET, HEAD"],
        ] as const) {
          const { status, headers, body } = yield* send("OPTIONS", path, { headers: asking("GET") })
          assert.deepStrictEqual([status, body], [204, ""], path)
          assert.strictEqual(headers["access-control-allow-methods"], methods)
          assert.strictEqual(headers["access-control-allow-origin"], ORIGIN)
          assert.strictEqual(headers["access-control-max-age"], "7200")
          assert.strictEqual(headers["vary"], "Origin")
          const allowed = headers["access-control-allow-headers"]?.split(", ")
          assert.includeMembers(allowed ?? [], [
            "authorization",
            "content-type",
            "traceparent",
            "x-request-id",
          ])
        }
      }),
    )

    it.effect("there is nothing to allow at an unknown path, and nothing without a question", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* send("OPTIONS", "/nowhere", { headers: asking("GET") })).status, 404)
        const plain = yield* send("OPTIONS", "/api/v1/agents", { headers: from(ORIGIN) })
        assert.deepStrictEqual([plain.status, plain.headers["allow"]], [404, "GET, HEAD"])
        const withoutOrigin = yield* send("OPTIONS", "/api/v1/agents", {
          headers: { "access-control-request-method": "GET" },
        })
        assert.deepStrictEqual([withoutOrigin.status, ofCors(withoutOrigin)], [404, []])
      }),
    )
  })
})

describe("with every origin", () => {
  layer(testServer(stubs, { allowedOrigins: "*" }), { excludeTestServices: true })((it) => {
    it.effect("any page can read answers, and they depend on none", () =>
      Effect.gen(function* () {
        for (const { headers } of yield* sendAll(from("null"))) {
          assert.strictEqual(headers["access-control-allow-origin"], "*")
          assert.isUndefined(headers["vary"])
        }
        const preflight = yield* send("OPTIONS", "/api/v1/heartbeat", { headers: asking("POST", "null") })
        assert.strictEqual(preflight.status, 204)
        assert.strictEqual(preflight.headers["access-control-allow-origin"], "*")
      }),
    )
  })
})

describe("without allowed origins", () => {
  layer(testServer(stubs), { excludeTestServices: true })((it) => {
    it.effect("nothing tells that there is such a thing", () =>
      Effect.gen(function* () {
        for (const received of yield* sendAll(from(ORIGIN))) {
          assert.deepStrictEqual(ofCors(received), [])
          assert.isUndefined(received.headers["vary"])
        }
        const preflight = yield* send("OPTIONS", "/api/v1/agents", { headers: asking("GET") })
        assert.deepStrictEqual([preflight.status, ofCors(preflight)], [404, []])
      }),
    )
  })
})

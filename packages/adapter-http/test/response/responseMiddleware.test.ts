import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { agent, errorOf, operator, send } from "../http.ts"
import { logs, REQUEST_ID, testServer, UI_TOKEN } from "../TestServer.ts"

const server = testServer({
  queries: { summary: Effect.die(new Error("a defect")) },
  admission: {
    // Of another class than the other defect, so that it has a line of its own.
    remove: (agentId) =>
      agentId === "a" ? Effect.die(new TypeError("a secret cause")) : Effect.succeed({ count: 1 }),
  },
})

layer(server, { excludeTestServices: true })("every response", (it) => {
  const paths = ["/api/v1/health", "/api/v1/agents", "/api/v1/system-summary", "/nowhere", "/api/v1/nowhere"]

  it.effect.each(paths)("carries the id that the client gave: %s", (path) =>
    Effect.gen(function* () {
      const received = yield* send("GET", path, { headers: { ...operator, "x-request-id": "My.id:1_-" } })
      assert.strictEqual(received.headers["x-request-id"], "My.id:1_-")
      if (received.status >= 400) assert.strictEqual(errorOf(received).request_id, "My.id:1_-")
    }),
  )

  it.effect.each(["", "a b", "a/b", "é", "a".repeat(129), "a, b"])("carries a new id instead of %j", (id) =>
    Effect.gen(function* () {
      const received = yield* send("GET", "/nowhere", { headers: { "x-request-id": id } })
      assert.strictEqual(received.headers["x-request-id"], REQUEST_ID)
      assert.strictEqual(errorOf(received).request_id, REQUEST_ID)
    }),
  )

  it.effect("takes an id of 128 characters", () =>
    Effect.gen(function* () {
      const id = "a".repeat(128)
      const received = yield* send("GET", "/api/v1/health", { headers: { "x-request-id": id } })
      assert.strictEqual(received.headers["x-request-id"], id)
    }),
  )

  it.effect("of the API is not to be cached, and is JSON", () =>
    Effect.gen(function* () {
      for (const path of ["/api/v1/health", "/api/v1/nowhere", "/api/v1/agents"]) {
        const { headers } = yield* send("GET", path)
        assert.strictEqual(headers["cache-control"], "no-store", path)
        assert.strictEqual(headers["content-type"], "application/json", path)
      }
    }),
  )

  it.effect("to a defect is 500 and tells nothing of it", () =>
    Effect.gen(function* () {
      const received = yield* send("DELETE", "/api/v1/agents/a", { headers: operator })
      assert.strictEqual(received.status, 500)
      assert.strictEqual(errorOf(received).code, "internal")
      assert.notInclude(received.body, "secret")
      const line = logs.findLast((logged) => logged.includes("a secret cause"))
      assert.include(line, '"level":"ERROR"')
      assert.include(line, REQUEST_ID)
    }),
  )

  it.effect("says once in the log that a proxy is not trusted", () =>
    Effect.gen(function* () {
      for (const client of ["203.0.113.7", "203.0.113.8"])
        yield* send("GET", "/api/v1/health", { headers: { "x-forwarded-for": client } })
      const lines = logs.filter((line) => line.includes("SERVICE_TRUST_PROXY"))
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0], '"level":"WARN"')
      assert.notInclude(lines[0], "203.0.113.7")
    }),
  )

  it.effect("leaves one line in the log, and no secret", () =>
    Effect.gen(function* () {
      const before = logs.length
      const headers = { ...operator, "x-request-id": "logged" }
      yield* send("DELETE", "/api/v1/agents/b?token=private", { headers })
      const lines = logs.slice(before)
      assert.lengthOf(lines, 1)
      for (const part of ["DELETE", "/api/v1/agents/b", "200", "duration_ms", "logged", '"level":"DEBUG"']) {
        assert.include(lines[0], part)
      }
      assert.notInclude(lines[0], "private")
      assert.notInclude(lines[0], UI_TOKEN)
    }),
  )

  it.effect("to an unknown path is 404, before anything else", () =>
    Effect.gen(function* () {
      for (const path of [
        "/",
        "/api/v1",
        "/api/v1/",
        "/api/v1/health/",
        "/api/v1//health",
        "/API/v1/health",
        "/api/v1/health;x",
        "/api/v1/agents/%zz",
        "/api/v1/agents/a/b/c",
        "/%",
      ]) {
        const received = yield* send("GET", path)
        assert.strictEqual(received.status, 404, path)
        assert.strictEqual(errorOf(received).code, "not_found")
        assert.isUndefined(received.headers["allow"], path)
      }
    }),
  )

  it.effect("to HEAD is that to GET without its body", () =>
    Effect.gen(function* () {
      const got = yield* send("GET", "/api/v1/health")
      const headed = yield* send("HEAD", "/api/v1/health")
      assert.strictEqual(headed.status, 200)
      assert.strictEqual(headed.body, "")
      assert.strictEqual(headed.headers["content-length"], got.headers["content-length"])
    }),
  )

  it.effect("takes a path for what it says", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* send("DELETE", "/api/v1/agents/b", { headers: operator })).status, 200)
      assert.strictEqual((yield* send("DELETE", "/api/v1/agents/%62", { headers: operator })).status, 200)
      for (const name of ["a;b", "a%3Bb", "a%23b", "a%3Fb", "a%2Fb", "a%25b", `a${"b".repeat(128)}`]) {
        const received = yield* send("DELETE", `/api/v1/agents/${name}`, { headers: operator })
        assert.strictEqual(received.status, 400, name)
        assert.match(errorOf(received).message, /^agent_id must be /)
      }
    }),
  )

  it.effect("refuses a token before it looks at parameters", () =>
    Effect.gen(function* () {
      for (const path of ["/api/v1/agents/a%20b", "/api/v1/agents?limit=0"]) {
        assert.strictEqual((yield* send("GET", path)).status, 401)
        assert.strictEqual((yield* send("GET", path, { headers: agent })).status, 401)
        assert.strictEqual((yield* send("GET", path, { headers: operator })).status, 400)
      }
    }),
  )

  it.effect("names a parameter that is given twice", () =>
    Effect.gen(function* () {
      const received = yield* send("GET", "/api/v1/agents?limit=1&limit=2&other=1&other=2", {
        headers: operator,
      })
      assert.strictEqual(received.status, 400)
      assert.strictEqual(errorOf(received).message, "limit must be given only once")
    }),
  )
})

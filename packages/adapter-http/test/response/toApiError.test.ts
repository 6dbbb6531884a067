import { assert, layer } from "@effect/vitest"
import * as CoreErrors from "@tocsin/core/heart/admission/AdmissionErrors"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { StorageError, StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { agent, errorOf, heartbeat, operator, send } from "../http.ts"
import { logs, testServer } from "../TestServer.ts"

const message = "what to do"
const blocked = new CoreErrors.AgentBlocked({ message })
const notAccepted = new CoreErrors.AgentNotAccepted({ message })
const storageError = (reason: StorageFailure) => new StorageError({ reason, message: `storage: ${reason}` })

const server = testServer({
  ingest: {
    heartbeat: (_key, { agent_id }) => {
      switch (agent_id as string) {
        case "blocked":
          return Effect.fail(blocked)
        case "limited":
          return Effect.fail(new CoreErrors.RateLimited({ message, retryAfterSeconds: 7 }))
        default:
          return Effect.fail(new CoreErrors.KeyConflict({ reason: "superseded_key", message }))
      }
    },
    events: (_key, { agent_id }) => Effect.fail((agent_id as string) === "blocked" ? blocked : notAccepted),
  },
  queries: {
    agent: () => Effect.fail(CoreErrors.agentNotFound()),
    agents: () => Effect.fail(new ValidationError({ message })),
    history: ({ agent_id = "" }) =>
      Effect.fail(storageError(StorageFailure.literals.find((reason) => reason === agent_id) ?? "other")),
  },
})

const events = [
  {
    event_id: "01890a5d-ac96-774b-bcce-b302099a8057",
    check_id: "disk",
    observed_at: "2026-01-31T08:30:00Z",
    status: "ok",
    exit_code: 0,
    duration_ms: 1,
  },
]
const beat = (agent_id: string) =>
  send("POST", "/api/v1/heartbeat", { headers: agent, body: JSON.stringify({ ...heartbeat, agent_id }) })
const push = (agent_id: string) =>
  send("POST", "/api/v1/events", { headers: agent, body: JSON.stringify({ agent_id, events }) })
const get = (path: string) => send("GET", path, { headers: operator })

layer(server, { excludeTestServices: true })("an error of the core", (it) => {
  it.effect.each([
    ["AgentBlocked at a heartbeat", beat("blocked"), 403, "agent_blocked"],
    ["AgentBlocked at events", push("blocked"), 403, "agent_blocked"],
    ["AgentNotAccepted", push("pending"), 403, "agent_not_accepted"],
    ["KeyConflict", beat("superseded"), 409, "conflict"],
    ["RateLimited", beat("limited"), 429, "rate_limited"],
    ["ValidationError", get("/api/v1/agents"), 400, "validation"],
  ] as const)("%s is answered as the contract says, with its own message", ([, request, status, code]) =>
    Effect.gen(function* () {
      const received = yield* request
      assert.strictEqual(received.status, status)
      assert.strictEqual(errorOf(received).code, code)
      assert.strictEqual(errorOf(received).message, message)
      assert.strictEqual(errorOf(received).request_id, received.headers["x-request-id"])
    }),
  )

  it.effect("AgentNotFound says what to do next", () =>
    Effect.gen(function* () {
      const received = yield* get("/api/v1/agents/none")
      assert.strictEqual(received.status, 404)
      assert.strictEqual(errorOf(received).code, "not_found")
      assert.include(errorOf(received).message, "GET /api/v1/agents")
    }),
  )

  it.effect("RateLimited says when to come back", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* beat("limited")).headers["retry-after"], "7")
    }),
  )

  it.effect.each(StorageFailure.literals)(
    "StorageError %s is 500, logged once and told to nobody",
    (reason) =>
      Effect.gen(function* () {
        const before = logs.length
        const received = yield* get(`/api/v1/events/query?agent_id=${reason}`)
        assert.strictEqual(received.status, 500)
        assert.strictEqual(errorOf(received).code, "internal")
        assert.strictEqual(received.headers["retry-after"], "1")
        assert.notInclude(received.body, reason)
        const lines = logs.slice(before).filter((line) => line.includes(`storage: ${reason}`))
        assert.lengthOf(lines, 1)
        assert.include(lines[0], String(received.headers["x-request-id"]))
      }),
  )
})

const failing = testServer({
  ingest: {
    heartbeat: (_key, { agent_id }) =>
      Effect.fail(storageError((agent_id as string) === "direct" ? "unavailable" : "timed_out")),
  },
})

layer(failing, { excludeTestServices: true })("the log line of a failed heartbeat", (it) => {
  // With an encoding, the request takes the long way.
  it.effect.each([
    ["direct", {}, "unavailable"],
    ["routed", { "content-encoding": "identity" }, "timed_out"],
  ] as const)("names agent, sender and reason: %s", ([agent_id, extra, reason]) =>
    Effect.gen(function* () {
      const before = logs.length
      const headers = { ...agent, ...extra, "x-request-id": "unlucky-one" }
      const body = JSON.stringify({ ...heartbeat, agent_id })
      assert.strictEqual((yield* send("POST", "/api/v1/heartbeat", { headers, body })).status, 500)
      const line = logs.slice(before).find((found) => found.includes("because the storage failed")) ?? "{}"
      assert.deepStrictEqual((JSON.parse(line) as { annotations?: unknown }).annotations, {
        request_id: "unlucky-one",
        method: "POST",
        path: "/api/v1/heartbeat",
        client: "127.0.0.1",
        agent_id,
        reason,
        count: 1,
      })
    }),
  )
})

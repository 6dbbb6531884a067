import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Agent, enroll, eventOf, push } from "../processes/Agent.ts"
import { type Base, call, incidentsOf, operate, OPERATOR_TOKEN, outboxOf } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { secretOf, webhookSecretOf } from "../processes/secrecy.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { startReceiver } from "../processes/WebhookReceiver.ts"

const READ_TOKEN = secretOf("reader")
const parse = (text: string): unknown => JSON.parse(text)

const environment = {
  DATABASE_URL: "memory:",
  SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
  SERVICE_READ_TOKEN: READ_TOKEN,
  SERVICE_NOTIFIERS: "webhook",
}

/** A service with one accepted agent, and a webhook receiver whose status can be set. */
const makeSite = Effect.gen(function* () {
  const receiver = { status: 200 }
  const { settings, arrivals } = yield* startReceiver(() => ({ status: receiver.status }))
  const cwd = yield* scratchFolder
  const server = yield* startServer({ cwd, environment: { ...environment, ...settings("tocsin") } })
  const agent = yield* enroll(server, "web-1")
  return { server, agent, receiver, arrivals }
})

/** A receiver that never has time. Gives its address. */
const startBusyReceiver = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const busy = createServer((_request, response) => response.writeHead(503).end())
    busy.listen(0, "127.0.0.1", () => resume(Effect.succeed(busy)))
  }),
  (busy) => Effect.sync(() => busy.close().closeAllConnections()),
  // A server that listens on TCP has such an address.
).pipe(Effect.map((busy) => `http://127.0.0.1:${(busy.address() as AddressInfo).port}/`))

const ops = (base: Base, method: string, path: string, token = OPERATOR_TOKEN) =>
  Effect.map(call(base, method, `/ops/v1/${path}`, { token }), ({ status, text }) => ({
    status,
    body: parse(text),
  }))

const fails = (answer: { readonly status: number; readonly body: unknown }, status: number, code: string) => {
  assert.strictEqual(answer.status, status)
  assert.nestedPropertyVal(answer.body, "error.code", code)
}

const report = (server: Base, agent: Agent, status: "ok" | "critical", changes: object = {}) =>
  Effect.map(push(server, agent, [{ ...eventOf({ check_id: "disk", status }), ...changes }]), ({ text }) =>
    parse(text),
  )

const NOBODY = "01900000-0000-7000-8000-00000000ffff"

describe("/ops/v1", () => {
  it.live("replays a dead letter once under its ID", () =>
    Effect.gen(function* () {
      const { server, agent, receiver, arrivals } = yield* makeSite
      receiver.status = 410
      yield* report(server, agent, "critical")
      const failed = yield* until(
        "the firing is a dead letter",
        Effect.map(outboxOf(server), (items) => items.find((item) => item.state === "failed")),
      )
      receiver.status = 200
      const replay = `notifiers/outbox/${failed.id}/replay`
      assert.deepStrictEqual(yield* ops(server, "POST", replay), { status: 200, body: { count: 1 } })
      yield* until(
        "it is sent",
        Effect.map(outboxOf(server), (items) => items.some((item) => item.state === "sent")),
      )
      assert.deepStrictEqual(
        arrivals.map(({ id, fault }) => [id, fault]),
        [
          [failed.id, undefined],
          [failed.id, undefined],
        ],
      )
      fails(yield* ops(server, "POST", replay), 409, "conflict")
      fails(yield* ops(server, "POST", `notifiers/outbox/${NOBODY}/replay`), 404, "not_found")
      fails(yield* ops(server, "POST", "notifiers/outbox/x/replay"), 400, "validation")
    }),
  )

  it.live("sends a test message and returns the receiver's answer", () =>
    Effect.gen(function* () {
      const url = yield* startBusyReceiver
      const cwd = yield* scratchFolder
      const webhook = { SERVICE_WEBHOOK_URL: url, SERVICE_WEBHOOK_SECRET: webhookSecretOf("webhook") }
      const server = yield* startServer({ cwd, environment: { ...environment, ...webhook } })
      const { status, body } = yield* ops(server, "POST", "notifiers/webhook/test")
      assert.strictEqual(status, 200)
      assert.deepInclude(body, { outcome: "deferred", status: 503 })
      fails(yield* ops(server, "POST", "notifiers/messenger/test"), 404, "not_found")
      fails(yield* ops(server, "POST", "notifiers/pager/test"), 404, "not_found")
      fails(yield* ops(server, "POST", "notifiers/Pager/test"), 400, "validation")
    }),
  )

  it.live("resets a check whose clock is in the future, and explains it", () =>
    Effect.gen(function* () {
      const { server, agent } = yield* makeSite
      yield* report(server, agent, "critical", { observed_at: "2999-01-01T00:00:00Z" })
      assert.deepStrictEqual(yield* report(server, agent, "ok"), { accepted: 0, deduplicated: 1 })
      const { body } = yield* ops(server, "GET", "explain?agent_id=web-1&check_id=disk", READ_TOKEN)
      assert.match(JSON.stringify(body), /clock was \d+ s ahead/)
      const reset = "agents/web-1/checks/disk/reset-clock"
      assert.deepStrictEqual(yield* ops(server, "POST", reset), { status: 200, body: { count: 1 } })
      assert.deepStrictEqual(yield* ops(server, "POST", reset), { status: 200, body: { count: 0 } })
      const later = { observed_at: "2998-01-01T00:00:00Z" }
      assert.deepStrictEqual(yield* report(server, agent, "ok", later), { accepted: 1, deduplicated: 0 })
      fails(yield* ops(server, "POST", "agents/web-1/checks/none/reset-clock"), 404, "not_found")
      fails(yield* ops(server, "POST", "agents/web-9/checks/disk/reset-clock"), 404, "not_found")
    }),
  )

  it.live("lets an agent whose clock was in the future name its host again", () =>
    Effect.gen(function* () {
      const { server, agent } = yield* makeSite
      const reset = "agents/web-1/checks/disk/reset-clock"
      const named = Effect.fnUntraced(function* (hostname: string, observed_at: string) {
        const { agent_id, key } = agent
        const json = { agent_id, observed_at, hostname, features: { push: true, metrics: false } }
        yield* operate(server, "POST", "/api/v1/heartbeat", { token: key, json })
        const { text } = yield* operate(server, "GET", "/api/v1/agents/web-1")
        return (parse(text) as { readonly hostname: string }).hostname
      })
      yield* report(server, agent, "ok")
      assert.strictEqual(yield* named("from-the-future", "2999-01-01T00:00:00Z"), "from-the-future")
      assert.strictEqual(yield* named("now", new Date().toISOString()), "from-the-future")
      assert.deepStrictEqual(yield* ops(server, "POST", reset), { status: 200, body: { count: 1 } })
      assert.strictEqual(yield* named("now", new Date().toISOString()), "now")
      assert.deepStrictEqual(yield* ops(server, "POST", reset), { status: 200, body: { count: 0 } })
    }),
  )

  it.live("deletes a check, resolves its incident, and returns the incident's changes", () =>
    Effect.gen(function* () {
      const { server, agent } = yield* makeSite
      yield* report(server, agent, "critical")
      assert.deepStrictEqual(yield* ops(server, "DELETE", "agents/web-1/checks/disk"), {
        status: 200,
        body: { count: 1 },
      })
      fails(yield* ops(server, "DELETE", "agents/web-1/checks/disk"), 404, "not_found")
      const [incident] = yield* incidentsOf(server)
      assert.strictEqual(incident?.state, "resolved")
      const { body } = yield* ops(server, "GET", `incidents/${incident?.id}`, READ_TOKEN)
      assert.nestedPropertyVal(body, "incident.id", incident?.id)
      assert.nestedPropertyVal(body, "members[0].check_id", "disk")
      assert.nestedPropertyVal(body, "timeline[0].change", "left")
      assert.nestedPropertyVal(body, "timeline[1].change", "joined")
      fails(yield* ops(server, "GET", `incidents/${NOBODY}`), 404, "not_found")
    }),
  )

  it.live("lets a read-only token read and change nothing", () =>
    Effect.gen(function* () {
      const { server } = yield* makeSite
      const changes = [
        ["POST", "/ops/v1/notifiers/webhook/test"],
        ["DELETE", "/ops/v1/agents/web-1/checks/disk"],
        ["POST", "/api/v1/agents/web-1/block"],
        ["DELETE", "/api/v1/agents/web-1"],
        ["DELETE", "/api/v1/agents/admission/blacklist"],
      ] as const
      for (const [method, path] of changes) {
        const { status, text } = yield* call(server, method, path, { token: READ_TOKEN })
        fails({ status, body: parse(text) }, 403, "forbidden")
      }
      const read = yield* call(server, "GET", "/api/v1/agents/web-1", { token: READ_TOKEN })
      assert.strictEqual(read.status, 200)
      const asAgent = yield* call(server, "POST", "/api/v1/heartbeat", { token: READ_TOKEN, json: {} })
      assert.strictEqual(asAgent.status, 401)
      fails(yield* ops(server, "GET", "incidents/x", "wrong"), 401, "unauthorized")
    }),
  )
})

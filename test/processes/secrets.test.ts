import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Agent, enroll, eventOf, heartbeat, push, report } from "./Agent.ts"
import { call, OPERATOR_TOKEN, operate, outboxOf } from "./api.ts"
import { scratchFolder } from "./scratch.ts"
import { MARK, secretOf, webhookSecretOf } from "./secrecy.ts"
import { type ServerProcess, startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"

const READ_TOKEN = secretOf("reader")

/** Nobody listens on this port, and every part of the address is a secret. */
const deadEnd = (name: string) =>
  `http://${secretOf(`${name}-user`)}:${secretOf(`${name}-password`)}@127.0.0.1:1/${secretOf(name)}?key=${secretOf(name)}`

/** Secrets in every place where one could be by mistake. */
const misplace = Effect.fnUntraced(function* (server: ServerProcess, agent: Agent) {
  const { agent_id, key } = agent
  const statuses = yield* Effect.forEach(
    [
      call(server, "GET", "/api/v1/agents", { token: key }),
      call(server, "GET", "/api/v1/agents", { token: secretOf("nobody") }),
      call(server, "GET", `/api/v1/agents?limit=${key}&token=${OPERATOR_TOKEN}`),
      call(server, "POST", `/api/v1/agents/${agent_id}/block`, { token: READ_TOKEN }),
      heartbeat(server, { agent_id, key: OPERATOR_TOKEN }),
      heartbeat(server, { agent_id: "web-2", key }),
      push(server, { agent_id, key: secretOf("stranger") }, [eventOf({ check_id: "disk", status: "ok" })]),
      call(server, "POST", "/api/v1/events", { token: key, json: { agent_id, key, events: [] } }),
      call(server, "POST", "/api/v1/events", { token: key, json: [key] }),
    ],
    (request) =>
      Effect.map(Effect.orDie(request), ({ status, text }) => {
        assert.notInclude(text, MARK)
        return status
      }),
  )
  assert.deepStrictEqual(statuses, [401, 401, 400, 403, 401, 409, 403, 400, 400])
})

describe("secrets", () => {
  // The end of every server in these tests checks that none is in its log.
  it.live("are in no answer and in no log, whatever fails", () =>
    Effect.gen(function* () {
      const server = yield* startServer({
        cwd: yield* scratchFolder,
        environment: {
          SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
          SERVICE_READ_TOKEN: READ_TOKEN,
          SERVICE_KEY_PEPPER: secretOf("pepper"),
          SERVICE_ALERT_ROUTER_URL: deadEnd("router"),
          SERVICE_MESSENGER_URL: deadEnd("messenger"),
          SERVICE_WEBHOOK_URL: deadEnd("webhook"),
          SERVICE_WEBHOOK_SECRET: webhookSecretOf("webhook"),
        },
      })
      const agent = yield* enroll(server, "web-1")
      yield* misplace(server, agent)
      yield* report(server, agent, { check_id: "disk", status: "critical" })
      const failed = Effect.map(outboxOf(server), (items) =>
        items.filter(({ last_error, state }) => state === "retry" && typeof last_error === "string"),
      )
      yield* until(
        "three notifiers have failed",
        Effect.map(failed, ({ length }) => length === 3),
      )
      for (const path of ["agents", "checks", "incidents", "events/query", "notifiers/outbox"]) {
        const { text } = yield* operate(server, "GET", `/api/v1/${path}`)
        assert.notInclude(text, MARK)
      }
      for (const notifier of ["webhook", "messenger", "alert_router"]) {
        const { text } = yield* operate(server, "POST", `/ops/v1/notifiers/${notifier}/test`)
        assert.notInclude(text, MARK)
        assert.match(text, /"outcome":"deferred"/)
      }
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
      assert.match(server.output.stderr, /"message":"request"/)
      assert.match(server.output.stderr, /"message":"notification"/)
    }),
  )
})

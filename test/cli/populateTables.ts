import { Effect } from "effect"
import { enroll, heartbeat, report } from "../processes/Agent.ts"
import { type Base, operate } from "../processes/api.ts"
import { secretOf } from "../processes/secrecy.ts"

/**
 * Lets a service have something in every table: agents, keys in every state, checks, shared and
 * ended incidents, one of them noted, an expected check and a silence.
 */
export const populateTables = Effect.fnUntraced(function* (server: Base) {
  const [first, second] = [yield* enroll(server, "web-1"), yield* enroll(server, "web-2")]
  yield* enroll(server, "db-1")
  yield* Effect.orDie(heartbeat(server, { agent_id: "pending-1", key: secretOf("pending-1") }))
  yield* Effect.orDie(heartbeat(server, { agent_id: "web-1", key: secretOf("web-1-next") }))
  yield* Effect.orDie(heartbeat(server, { agent_id: "blocked-1", key: secretOf("blocked-1") }))
  yield* operate(server, "POST", "/api/v1/agents/blocked-1/block")
  yield* report(server, first, { check_id: "disk", status: "critical" }, { check_id: "load", status: "ok" })
  yield* report(server, first, { check_id: "disk", status: "ok" })
  const shared = { check_id: "site", incident_key: "Störung – 'site' \"1\" \\ 2" } as const
  yield* report(server, first, { ...shared, status: "warning" })
  yield* report(server, second, { ...shared, status: "critical" })
  const { text } = yield* operate(server, "GET", "/api/v1/incidents")
  const { items } = JSON.parse(text) as { readonly items: ReadonlyArray<{ readonly id: string }> }
  yield* operate(server, "POST", `/ops/v1/incidents/${items[0]?.id}/notes`, {
    json: { text: "Known since noon" },
  })
  yield* operate(server, "POST", "/ops/v1/silences", {
    json: { matchers: [{ field: "agent_id", op: "=", value: "db-1" }], for: "1h", comment: "New disks" },
  })
  yield* operate(server, "PUT", "/ops/v1/agents/web-1/expectations", {
    token: first.key,
    json: { checks: [{ check_id: "disk", every: "1h" }] },
  })
  return { first, second }
})

/** The state that a service shows, for comparison. */
export const shownBy = Effect.fnUntraced(function* (server: Base) {
  const paths = ["agents", "agents/admission/blacklist", "checks", "incidents", "events/query"]
  const answers = yield* Effect.forEach(paths, (path) => operate(server, "GET", `/api/v1/${path}`))
  const summary = yield* operate(server, "GET", "/api/v1/system-summary")
  const counted = JSON.parse(summary.text) as { readonly open_incidents: number }
  return [...answers.map(({ text }) => JSON.parse(text) as unknown), counted.open_incidents]
})

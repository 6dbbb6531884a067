import { assert } from "@effect/vitest"
import { Effect } from "effect"
import {
  acceptedAgent,
  block,
  blockedAgent,
  event,
  heartbeat,
  newAgent,
  pendingAgent,
  push,
} from "./TestAgent.ts"
import { operate } from "./call.ts"

/** The main agent of the population. */
export const AGENT = "agent-of-the-table"

const bad = { status: "critical", exit_code: 2, output: "disk full\nsecond line" }

/**
 * Something of everything: agents pending, accepted, with a replacement key and with labels; checks
 * of every status; incidents of one member and of several, open and resolved; blocked keys;
 * notifications.
 */
export const populateLists = Effect.gen(function* () {
  const agent = yield* acceptedAgent(AGENT)
  const other = yield* acceptedAgent()
  yield* pendingAgent()
  yield* heartbeat(other, { labels: { role: "db", __proto__x: "y" } })
  const pushed = yield* push(
    agent,
    event({ check_id: "fine", output: "all is well" }),
    event({ check_id: "disk", ...bad }),
    event({ check_id: "load", status: "warning", exit_code: 1, incident_key: "shared", duration_ms: 0 }),
    event({ check_id: "odd", status: "unknown", exit_code: 3, notifications_enabled: false }),
    event({ check_id: "brief", ...bad, output_truncated: true }),
    event({ check_id: "brief", observed_at: "2026-03-01T12:00:01.000001Z" }),
  )
  assert.deepStrictEqual(pushed.body, { accepted: 6, deduplicated: 0 })
  yield* push(other, event({ check_id: "load", ...bad, incident_key: "shared" }))
  yield* heartbeat({ ...agent, key: newAgent().key })
  yield* blockedAgent()
  const blocked = yield* pendingAgent()
  yield* block(blocked)
  return { agent, other }
})

/** The id of the first row of the blacklist. */
export const firstBlacklistId = Effect.gen(function* () {
  const { body } = yield* operate("GET", "/api/v1/agents/admission/blacklist")
  // Another test checks its shape.
  const { items } = body as { readonly items: ReadonlyArray<{ readonly id: string }> }
  return items[0]?.id ?? ""
})

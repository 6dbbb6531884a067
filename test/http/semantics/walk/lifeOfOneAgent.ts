import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { accept, agentPath, event, heartbeat, newAgent, push } from "../../client/TestAgent.ts"
import { operate } from "../../client/call.ts"
import { pageOf } from "../../client/itemsOf.ts"
import type { Transcript } from "../Transcript.ts"
import { expectBody, expectCode } from "./expectations.ts"
import { look, summary } from "./look.ts"
import { at, critical } from "./results.ts"

/** Registration, acceptance, results, an incident and its end. Returns the agent. */
export const lifeOfOneAgent = Effect.fnUntraced(function* (transcript: Transcript) {
  const agent = newAgent("web-01")
  expectCode(yield* push(agent, event()), "403 agent_not_accepted")
  expectCode(yield* operate("POST", `${agentPath(agent)}/accept`), "404 not_found")
  expectBody(yield* heartbeat(agent, { labels: { role: "web" } }), 202, { accepted: false })
  expectBody(yield* heartbeat(agent, { labels: { role: "web" } }), 202, { accepted: false })
  expectCode(yield* push(agent, event()), "403 agent_not_accepted")
  assert.deepInclude(yield* summary, { agents_online: 0, agents_offline: 0 })
  yield* accept(agent)
  expectBody(yield* operate("POST", `${agentPath(agent)}/accept`), 200, { count: 0 })
  expectBody(yield* heartbeat(agent), 202, { accepted: true })
  const found = yield* operate("GET", agentPath(agent))
  expectBody(found, 200, { agent_id: "web-01", status: "alive", admission_state: "accepted" })
  // Absent labels clear them.
  assert.notNestedProperty(found.body, "labels.role")

  const first = [
    event({ check_id: "disk", observed_at: at(1), output: "fine" }),
    event({ check_id: "load", observed_at: at(1) }),
  ]
  expectBody(yield* push(agent, ...first), 202, { accepted: 2, deduplicated: 0 })
  // Replayed as a whole, and once more with something new.
  expectBody(yield* push(agent, ...first), 202, { accepted: 0, deduplicated: 2 })
  const broken = event({ check_id: "disk", observed_at: at(3), ...critical })
  expectBody(yield* push(agent, ...first, broken), 202, { accepted: 1, deduplicated: 2 })
  expectBody(yield* push(agent, broken), 202, { accepted: 0, deduplicated: 1 })
  // The same result again moves the check on, a late one does nothing at all.
  expectBody(
    yield* push(agent, event({ check_id: "disk", observed_at: at(4), ...critical, output: "worse" })),
    202,
    {
      accepted: 0,
    },
  )
  expectBody(yield* push(agent, event({ check_id: "disk", observed_at: at(2) })), 202, { deduplicated: 1 })
  const { items } = yield* pageOf("/api/v1/incidents?state=open")
  const [incident = {}] = items
  assert.deepInclude(incident, {
    incident_key: "web-01/disk",
    severity: "critical",
    agent_id: "web-01",
    check_id: "disk",
  })
  assert.deepInclude(yield* summary, {
    agents_online: 1,
    checks_ok: 1,
    checks_critical: 1,
    open_incidents: 1,
  })
  assert.deepNestedInclude(yield* pageOf("/api/v1/notifiers/outbox"), {
    "items[0].state": "pending",
    "items[0].event_type": "firing",
    "items[0].notifier": "debug",
    "items[0].incident_id": incident["id"],
  })
  yield* look(transcript, "broken")
  expectBody(yield* push(agent, event({ check_id: "disk", observed_at: at(5), output: "fine again" })), 202, {
    accepted: 1,
  })
  assert.deepNestedInclude(yield* pageOf("/api/v1/incidents"), {
    "items[0].state": "resolved",
    "items[0].id": incident["id"],
    "items[0].summary": "worse",
  })
  // Nobody was notified, so there is no resolved.
  assert.deepNestedInclude(yield* pageOf("/api/v1/notifiers/outbox"), { "items[0].state": "discarded" })
  // Not reopened: another one.
  expectBody(yield* push(agent, event({ check_id: "disk", observed_at: at(6), ...critical })), 202, {
    accepted: 1,
  })
  assert.lengthOf((yield* pageOf("/api/v1/incidents?state=open")).items, 1)
  assert.lengthOf((yield* pageOf("/api/v1/incidents")).items, 2)
  yield* look(transcript, "broken again")
  return agent
})

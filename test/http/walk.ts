import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Answer } from "./Answer.ts"
import { call, operate } from "./call.ts"
import { pageOf } from "./itemsOf.ts"
import {
  accept,
  acceptedAgent,
  agentPath,
  block,
  event,
  heartbeat,
  newAgent,
  newEventId,
  pendingAgent,
  push,
  type TestAgent,
} from "./TestAgent.ts"
import { newToken } from "./Observatory.ts"
import { Tocsin } from "./Tocsin.ts"
import { Transcript } from "./Transcript.ts"

const at = (seconds: number): string => `2026-03-01T12:00:${String(seconds).padStart(2, "0")}.000Z`
const critical = { status: "critical", exit_code: 2, output: "first line\nsecond line" }

/** What an answer must be, as far as it is given here: status, then fields of its body. */
const expectBody = (answer: Answer, status: number, body: object): void => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.deepInclude(answer.body, body)
}

const code = (answer: Answer, expected: string): void =>
  assert.strictEqual(`${answer.status} ${/"code":"(\w+)"/.exec(answer.text)?.[1]}`, expected)

const lists = [
  "/api/v1/agents",
  "/api/v1/agents/admission/blacklist",
  "/api/v1/checks",
  "/api/v1/events/query",
  "/api/v1/incidents",
  "/api/v1/incidents?sort=opened_at&direction=asc",
  "/api/v1/incidents?sort=resolved_at",
  "/api/v1/notifiers/outbox?sort=created_at",
  "/api/v1/system-summary",
]

/** All that operators can read, into the transcript. */
const look = Effect.fnUntraced(function* (transcript: Transcript, when: string) {
  for (const path of lists) transcript.add(`${when}: ${path}`, yield* operate("GET", path))
})

const summary = Effect.map(operate("GET", "/api/v1/system-summary"), ({ body }) => body)

/** Registration, acceptance, results, an incident and its end. Returns the agent. */
const fromRegistrationToRecovery = Effect.fnUntraced(function* (transcript: Transcript) {
  const agent = newAgent("web-01")
  code(yield* push(agent, event()), "403 agent_not_accepted")
  code(yield* operate("POST", `${agentPath(agent)}/accept`), "404 not_found")
  expectBody(yield* heartbeat(agent, { labels: { role: "web" } }), 202, { accepted: false })
  expectBody(yield* heartbeat(agent, { labels: { role: "web" } }), 202, { accepted: false })
  code(yield* push(agent, event()), "403 agent_not_accepted")
  assert.deepInclude(yield* summary, { agents_online: 0, agents_offline: 0 })
  yield* accept(agent)
  expectBody(yield* operate("POST", `${agentPath(agent)}/accept`), 200, { count: 0 })
  expectBody(yield* heartbeat(agent), 202, { accepted: true })
  const found = yield* operate("GET", agentPath(agent))
  expectBody(found, 200, { agent_id: "web-01", status: "alive", admission_state: "accepted" })
  // Absent labels are none.
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
  // Nobody was told, so there is nothing to take back.
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

const order = ["warning", "unknown", "critical"]

/** Incidents of several checks and agents, silent events, exit codes alone. */
const sharedAndSilent = Effect.fnUntraced(function* (transcript: Transcript, agent: TestAgent) {
  const other = yield* acceptedAgent("db-01")
  const named = { incident_key: "storage" }
  for (const [index, status] of order.entries()) {
    const from = index === 1 ? other : agent
    yield* push(
      from,
      event({
        check_id: `raid-${index}`,
        observed_at: at(10),
        status,
        exit_code: 1,
        output: status,
        ...named,
      }),
    )
    const [incident = {}] = (yield* pageOf(`/api/v1/incidents?state=open&check_id=raid-0`)).items
    assert.deepInclude(incident, { incident_key: "storage", severity: status, summary: status })
    assert.strictEqual("agent_id" in incident, index === 0)
  }
  // Down again as the worst ones leave.
  yield* push(agent, event({ check_id: "raid-2", observed_at: at(11) }))
  yield* push(other, event({ check_id: "raid-1", observed_at: at(11) }))
  const left = yield* pageOf("/api/v1/incidents?state=open&check_id=raid-0")
  assert.deepNestedInclude(left, {
    "items[0].severity": "warning",
    "items[0].agent_id": "web-01",
    "items[0].check_id": "raid-0",
  })
  // A key of a user and one made of ids never meet.
  const imitation = { incident_key: "web-01/raid-9", ...critical }
  yield* push(other, event({ check_id: "imitator", observed_at: at(12), ...imitation }))
  yield* push(agent, event({ check_id: "raid-9", observed_at: at(12), ...critical }))
  assert.lengthOf(
    (yield* pageOf("/api/v1/incidents?state=open")).items.filter(
      (item) => item["incident_key"] === "web-01/raid-9",
    ),
    2,
  )
  // Silent: state and incident, and no notification.
  const before = (yield* pageOf("/api/v1/notifiers/outbox")).items.length
  const silent = { check_id: "silent", notifications_enabled: false }
  yield* push(other, event({ ...silent, observed_at: at(13), ...critical }))
  assert.lengthOf((yield* pageOf("/api/v1/notifiers/outbox")).items, before)
  assert.lengthOf((yield* pageOf("/api/v1/incidents?check_id=silent")).items, 1)
  // An exit code alone is a change, and moves no incident.
  expectBody(yield* push(other, event({ ...silent, observed_at: at(14), ...critical, exit_code: 3 })), 202, {
    accepted: 1,
  })
  assert.lengthOf((yield* pageOf("/api/v1/incidents?check_id=silent")).items, 1)
  assert.lengthOf((yield* pageOf("/api/v1/events/query?check_id=silent")).items, 2)
  // Within one batch an id counts once, and the order is that of the batch.
  const id = newEventId()
  const twice = [
    event({ event_id: id, check_id: "flap", observed_at: at(15), ...critical }),
    event({ event_id: id, check_id: "flap", observed_at: at(16) }),
    event({ check_id: "flap", observed_at: at(17) }),
    event({ check_id: "flap", observed_at: at(17), ...critical }),
  ]
  expectBody(yield* push(other, ...twice), 202, { accepted: 3, deduplicated: 1 })
  yield* look(transcript, "shared")
  return other
})

/** Replacement keys, and keys of other agents. */
const rotation = Effect.fnUntraced(function* (transcript: Transcript, agent: TestAgent, other: TestAgent) {
  const fresh = { ...agent, key: newToken() }
  expectBody(yield* heartbeat(fresh, { hostname: "imposter" }), 202, { accepted: false })
  expectBody(yield* operate("GET", agentPath(agent)), 200, {
    rotation_pending: true,
    hostname: "web-01.example.org",
  })
  expectBody(yield* heartbeat(agent), 202, { accepted: true })
  code(yield* push(fresh, event()), "403 agent_not_accepted")
  code(yield* heartbeat({ ...agent, key: newToken() }), "409 conflict")
  code(yield* heartbeat({ ...newAgent("elsewhere"), key: agent.key }), "409 conflict")
  code(yield* heartbeat({ ...other, key: agent.key }), "409 conflict")
  code(yield* push({ ...other, key: agent.key }, event()), "403 agent_not_accepted")
  // accept-all leaves replacements alone unless it is told not to; remove-all does always.
  expectBody(yield* operate("POST", "/api/v1/agents/admission/accept-all"), 200, { count: 0 })
  expectBody(yield* operate("POST", "/api/v1/agents/admission/accept-all?include_rotation=false"), 200, {
    count: 0,
  })
  expectBody(yield* operate("POST", "/api/v1/agents/admission/remove-all"), 200, { count: 0 })
  yield* look(transcript, "rotating")
  expectBody(yield* operate("POST", "/api/v1/agents/admission/accept-all?include_rotation=true"), 200, {
    count: 1,
  })
  expectBody(yield* heartbeat(fresh), 202, { accepted: true })
  code(yield* heartbeat(agent), "409 conflict")
  code(yield* push(agent, event()), "403 agent_not_accepted")
  expectBody(yield* operate("GET", agentPath(agent)), 200, { rotation_pending: false })
  // Blocked: the pending key, not the accepted one.
  const next = { ...agent, key: newToken() }
  yield* heartbeat(next)
  yield* block(agent)
  code(yield* heartbeat(next), "403 agent_blocked")
  expectBody(yield* heartbeat(fresh), 202, { accepted: true })
  yield* look(transcript, "rotated")
  return fresh
})

/** Blocking, the blacklist, deletion and another life. */
const endings = Effect.fnUntraced(function* (transcript: Transcript, agent: TestAgent) {
  for (const id of ["p-1", "p-2", "p-3"]) yield* pendingAgent(id)
  expectBody(yield* operate("POST", "/api/v1/agents/admission/block-all"), 200, { count: 3 })
  expectBody(yield* operate("POST", "/api/v1/agents/admission/block-all"), 200, { count: 0 })
  const pending = yield* pendingAgent("p-4")
  expectBody(yield* operate("POST", "/api/v1/agents/admission/remove-all"), 200, { count: 1 })
  code(yield* push(pending, event()), "403 agent_not_accepted")
  yield* look(transcript, "blocked")
  const { items } = yield* pageOf("/api/v1/agents/admission/blacklist")
  assert.lengthOf(items, 4)
  const [row = {}] = items
  expectBody(yield* operate("DELETE", `/api/v1/agents/admission/blacklist/${row["id"]}`), 200, { count: 1 })
  expectBody(yield* operate("DELETE", `/api/v1/agents/admission/blacklist/${row["id"]}`), 200, { count: 0 })
  // Its only key blocked, an agent is gone with all that it owns; its incidents stay, resolved.
  yield* block(agent)
  code(yield* operate("GET", agentPath(agent)), "404 not_found")
  code(yield* operate("POST", `${agentPath(agent)}/block`), "404 not_found")
  code(yield* heartbeat(agent), "403 agent_blocked")
  code(yield* push(agent, event()), "403 agent_blocked")
  code(yield* heartbeat({ ...newAgent("another-name"), key: agent.key }), "403 agent_blocked")
  assert.deepInclude(yield* pageOf("/api/v1/checks?agent_id=web-01"), { items: [] })
  assert.deepInclude(yield* pageOf("/api/v1/events/query?agent_id=web-01"), { items: [] })
  assert.deepInclude(yield* pageOf("/api/v1/incidents?agent_id=web-01&state=open"), { items: [] })
  assert.isAbove((yield* pageOf("/api/v1/incidents?agent_id=web-01")).items.length, 3)
  yield* look(transcript, "gone")
  expectBody(yield* operate("DELETE", "/api/v1/agents/admission/blacklist"), 200, { count: 4 })
  expectBody(yield* operate("DELETE", "/api/v1/agents/admission/blacklist"), 200, { count: 0 })
  // Forgotten, not accepted.
  code(yield* push(agent, event()), "403 agent_not_accepted")
  expectBody(yield* heartbeat(agent), 202, { accepted: false })
  yield* accept(agent)
  // Nothing of the former agent touches it: what would be late, and known, is neither.
  const old = event({ check_id: "disk", observed_at: at(0), ...critical })
  expectBody(yield* push(agent, old), 202, { accepted: 1, deduplicated: 0 })
  expectBody(yield* operate("DELETE", agentPath(agent)), 200, { count: 1 })
  code(yield* operate("DELETE", agentPath(agent)), "404 not_found")
  yield* heartbeat(agent)
  yield* accept(agent)
  expectBody(yield* push(agent, old), 202, { accepted: 1, deduplicated: 0 })
  yield* look(transcript, "another life")
})

/**
 * The life of some agents from end to end, each step held against the decisions. Returns all that operators could read
 * on the way, so that it can be compared between storages.
 */
export const walk = Effect.gen(function* () {
  const { clock } = yield* Tocsin
  const transcript = new Transcript()
  const agent = yield* fromRegistrationToRecovery(transcript)
  const other = yield* sharedAndSilent(transcript, agent)
  const fresh = yield* rotation(transcript, agent, other)
  yield* endings(transcript, fresh)
  clock.advance("3 minutes")
  yield* heartbeat(fresh)
  assert.deepNestedInclude(yield* pageOf("/api/v1/agents"), {
    "items[0].status": "stale",
    "items[1].status": "alive",
  })
  assert.deepInclude(yield* summary, { agents_online: 1, agents_offline: 1 })
  clock.advance("6 minutes")
  assert.deepNestedInclude(yield* pageOf("/api/v1/agents"), {
    "items[0].status": "dead",
    "items[1].status": "dead",
  })
  yield* look(transcript, "silent")
  transcript.add("health", yield* call("GET", "/api/v1/health"))
  return transcript.lines
})

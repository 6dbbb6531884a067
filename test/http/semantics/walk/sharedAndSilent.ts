import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { acceptedAgent, event, newEventId, push, type TestAgent } from "../../client/TestAgent.ts"
import { pageOf } from "../../client/itemsOf.ts"
import type { Transcript } from "../Transcript.ts"
import { expectBody } from "./expectations.ts"
import { look } from "./look.ts"
import { at, critical } from "./results.ts"

const order = ["warning", "unknown", "critical"]

/** Incidents of several checks and agents, silent events, exit codes alone. */
export const sharedAndSilent = Effect.fnUntraced(function* (transcript: Transcript, agent: TestAgent) {
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

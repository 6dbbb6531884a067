import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { sweepDeadAgents } from "@tocsin/core/heart/deadAgents/heartbeatIncident"
import { discardUnclaimed } from "@tocsin/core/heart/notifications/discardUnclaimed"
import { recordResults } from "@tocsin/core/heart/notifications/recordResults"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { agentRecord, incidentRecord, outboxIdOf, outboxRecord, write } from "@tocsin/testing/records"
import { openReplica } from "@tocsin/testing/Replica"
import { rowsOf } from "@tocsin/testing/rowsOf"
import { start, START_MILLIS } from "@tocsin/testing/samples"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

const later = (minutes: number) => Instant.plus(start, Duration.minutes(minutes))

const open = Effect.gen(function* () {
  yield* TestClock.setTime(START_MILLIS)
  return yield* openReplica({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
})

const sending = {
  state: "sending",
  attempts: 1,
  first_attempted_at: start,
  next_attempt_at: undefined,
} as const

describe("work that comes late", () => {
  it.effect("opens no incident of an agent that was seen after it was found", () =>
    Effect.gen(function* () {
      const replica = yield* open
      const { incidents, storage } = replica
      const agents = [agentRecord("silent"), agentRecord("seen", { last_seen_at: later(9) })]
      yield* write(replica, [], (unit) => {
        for (const agent of agents) unit.agents.put(agent)
      })
      yield* TestClock.adjust("10 minutes")
      const found = agents.map(({ agent_id }) => agent_id)
      yield* transact(storage, sweepDeadAgents({ rules: defaultRules, incidents, agents: found }))
      const opened = yield* rowsOf(replica, "incidents")
      assert.deepStrictEqual(
        opened.map(({ incident_key }) => String(incident_key)),
        ["silent/@heartbeat"],
      )
    }),
  )

  it.effect("changes nothing by the result of a claim that another one has followed", () =>
    Effect.gen(function* () {
      const replica = yield* open
      const item = outboxRecord("o", "i", { ...sending, leased_until: later(2) })
      yield* write(replica, [], (unit) => {
        unit.incidents.put(incidentRecord("i"))
        unit.outbox.put(item)
      })
      const { id, incident_id, notifier } = item
      const claim = { id, incident_id, notifier, leased_until: later(1), call_began_at: undefined }
      const result = { outcome: "delivered" } as const
      const recorded = yield* transact(replica.storage, recordResults([{ claim, result, random: 0 }]))
      assert.deepStrictEqual(recorded, ["lost"])
      assert.deepStrictEqual(yield* rowsOf(replica, "outbox"), [item])
    }),
  )

  it.effect("discards an item of a receiver that no one lists, though the one before it is being sent", () =>
    Effect.gen(function* () {
      const replica = yield* open
      const night = { receiver: "night", notifier: "webhook" } as const
      yield* write(replica, [], (unit) => {
        unit.incidents.put(incidentRecord("i"))
        const lease = { leased_until: later(2_880), updated_at: later(1_440) }
        unit.outbox.put(outboxRecord("first", "i", { ...night, ...sending, ...lease, incident_seq: 1 }))
        unit.outbox.put(outboxRecord("second", "i", { ...night, incident_seq: 2 }))
      })
      yield* TestClock.adjust("25 hours")
      assert.strictEqual(yield* transact(replica.storage, discardUnclaimed([], 10)), 1)
      const rows = yield* rowsOf(replica, "outbox")
      assert.strictEqual(rows.find(({ id }) => id === outboxIdOf("second"))?.state, "discarded")
    }),
  )
})

import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { assert, it } from "@effect/vitest"
import { newExpectation } from "@tocsin/core/heart/model/ExpectationRecord"
import { evaluateExpectations } from "@tocsin/core/heart/overdue/evaluateExpectations"
import { followPolicy } from "@tocsin/core/heart/overdue/followPolicy"
import { Incidents } from "@tocsin/core/heart/incidents/Incidents"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { type Decision, load } from "@tocsin/core/kernel/unitOfWork/Decision"
import { rowOf } from "@tocsin/testing/observe"
import { openReplica } from "@tocsin/testing/Replica"
import { agentRecord, checkRecord, write } from "@tocsin/testing/records"
import { start, START_MILLIS } from "@tocsin/testing/samples"
import { transact } from "@tocsin/testing/transact"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"

const rule = { match: ["check_id = disk"], every: "1h" }
const policy = compilePolicy(Result.getOrThrow(readPolicy({ freshness: [rule] }, ["debug"])), ["debug"])
const terms = { after_millis: 3_600_000, severity: "unknown", notifications_enabled: true } as const

it.effect.each([
  ["of a run that has begun becomes the rule's, and the run goes on", "run", "policy"],
  ["of a declaration stays", "agent", "agent"],
  ["of an alert stays", "alert", "alert"],
] as const)("an expectation %s, where a rule of freshness matches its check", ([, origin, becomes]) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START_MILLIS)
    const replica = yield* openReplica({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
    const agent = agentRecord("a")
    const check = checkRecord(agent, "disk")
    const { agent_id, check_id, registration_id } = check
    yield* write(replica, [], (unit) => {
      unit.agents.put(agent)
      unit.checks.put(check)
      const expected = newExpectation(check, { origin, terms, expected_from: start })
      unit.expectations.put({ ...expected, running_since: start })
    })
    const ref = { agent_id, check_id, registration_id }
    yield* transact(replica.storage, function* (unit): Decision<void> {
      yield* load(unit, {
        agents: [agent_id],
        checks: { agent_id, check_ids: [check_id] },
        rows: { expectation: [ref] },
      })
      const incidents = new Incidents(unit, { ...replica.incidents, policy: () => policy })
      yield* followPolicy(incidents, { agent, check_id })
    })
    const expectation = yield* rowOf(replica, "expectation", ref)
    assert.deepInclude(expectation, { origin: becomes, running_since: start })
  }),
)

it.effect("a check that is due as its rule changes is late by the present rule, not by the former one", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START_MILLIS)
    const replica = yield* openReplica({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
    const now = Instant.plus(start, Duration.minutes(10))
    const agent = agentRecord("a", { last_seen_at: now })
    const check = checkRecord(agent, "disk")
    const former = { ...terms, every_millis: 60_000, after_millis: 180_000 }
    yield* write(replica, [], (unit) => {
      unit.agents.put(agent)
      unit.checks.put(check)
      const expected = newExpectation(check, { origin: "policy", terms: former, expected_from: start })
      unit.expectations.put({ ...expected, next_evaluation_at: now })
    })
    yield* TestClock.adjust(Duration.minutes(10))
    const { agent_id: agentId, check_id } = check
    const incidents = { ...replica.incidents, policy: () => policy }
    const input = { agentId, checkIds: [check_id], outageEnd: undefined, incidents }
    yield* transact(replica.storage, evaluateExpectations(input))
    const expectation = yield* rowOf(replica, "expectation", check)
    assert.deepInclude(expectation?.terms, { every_millis: 3_600_000, after_millis: 10_800_000 })
    assert.isUndefined(expectation?.incident_id)
  }),
)

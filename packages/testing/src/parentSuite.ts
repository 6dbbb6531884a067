import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/Identifiers"
import type { ParentSearch } from "@tocsin/core/engine/unitOfWork/RowRequest"
import { HEARTBEAT } from "@tocsin/core/model/MemberRecord"
import { Effect } from "effect"
import { observe } from "./observe.ts"
import { after } from "./outboxItems.ts"
import { agentRecord, incidentIdOf, incidentRecord, memberRecord, write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const NOTHING: ParentSearch = {
  agents: [],
  checks: [],
  keys: [],
  isAll: false,
  staleSince: undefined,
  limit: 10,
}

const AGENTS = ["alive", "dead", "pending", "stale"].map((name) => AgentId.make(name))

/** Incidents by the names of their members, and agents of every kind. */
const fill = (replica: Replica) =>
  write(replica, [{ agents: AGENTS }], (unit) => {
    unit.putAgent(agentRecord("alive", { last_seen_at: after(0) }))
    const seen = { last_seen_at: after(-300) }
    unit.putAgent(agentRecord("stale", { ...seen, reachable_from: seen.last_seen_at }))
    unit.putAgent(agentRecord("dead", { ...seen, heartbeat_incident_id: incidentIdOf("of dead") }))
    unit.putAgent(
      agentRecord("pending", { ...seen, admission_state: "pending", accepted_key_hash: undefined }),
    )
    for (const name of ["one", "two", "of dead", "left"]) unit.incidents.put(incidentRecord(name))
    unit.incidents.put(incidentRecord("over", { state: "resolved", resolved_at: after(0) }))
    unit.members.put(memberRecord({ incident: "one", agent: "alive", check: "disk" }))
    unit.members.put(memberRecord({ incident: "one", agent: "alive", check: "load" }))
    unit.members.put(memberRecord({ incident: "two", agent: "stale", check: "uplink" }))
    unit.members.put(
      memberRecord({ incident: "of dead", agent: "dead", check: "c" }, { check_id: HEARTBEAT }),
    )
    unit.members.put(memberRecord({ incident: "left", agent: "alive", check: "disk" }, { left_at: after(0) }))
    unit.members.put(memberRecord({ incident: "over", agent: "alive", check: "disk" }, { left_at: after(0) }))
  })

/** The rows among which the parents of incidents are. */
export const parentSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("possible parents", () => {
    it.effect("are open incidents of agents, checks and keys, and agents that are named or stale", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* fill(replica)
        const find = (search: Partial<ParentSearch>) =>
          observe(replica, [{ parents: { ...NOTHING, ...search } }], ({ searchResults: { parents } }) => [
            ...parents.incidents.map(({ incident_key }): string => incident_key).toSorted(),
            ...parents.agents.map(({ agent_id }): string => agent_id),
          ])
        assert.deepStrictEqual(yield* find({}), [])
        assert.deepStrictEqual(yield* find({ agents: ["alive", "unknown"] }), ["one", "alive"])
        assert.deepStrictEqual(yield* find({ checks: ["uplink", "@heartbeat"] }), ["of dead", "two"])
        assert.deepStrictEqual(yield* find({ keys: ["left", "over", "one"] }), ["left", "one"])
        const several = { agents: ["alive"], checks: ["disk"], keys: ["two"] }
        assert.deepStrictEqual(yield* find(several), ["one", "two", "alive"])
        assert.deepStrictEqual(yield* find({ isAll: true }), ["left", "of dead", "one", "two"])
        assert.deepStrictEqual(yield* find({ staleSince: after(-120) }), ["stale"])
        assert.deepStrictEqual(yield* find({ staleSince: after(-301) }), [])
        const both = { agents: ["pending"], staleSince: after(-300) }
        assert.deepStrictEqual(yield* find(both), ["pending", "stale"])
        assert.lengthOf(yield* find({ isAll: true, staleSince: after(-120), limit: 1 }), 2)
      }),
    )
  })
}

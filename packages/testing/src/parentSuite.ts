import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type { ParentSearch } from "@tocsin/core/kernel/unitOfWork/Search"
import { gatherFacts } from "@tocsin/core/heart/firings/gatherFacts"
import { HEARTBEAT } from "@tocsin/core/heart/model/MemberRecord"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { Duration, Effect } from "effect"
import { search } from "./observe.ts"
import { after } from "./outboxItems.ts"
import { agentRecord, incidentIdOf, incidentRecord, memberRecord, ONE_CRITICAL, write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { lone } from "@tocsin/core/kernel/unitOfWork/Decision"
import { transact } from "./transact.ts"

const NOTHING: ParentSearch = {
  agents: [],
  checks: [],
  keys: [],
  hostnames: [],
  labelled: [],
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

const labelled = (name: string, check: string, labels: Labels) => ({
  agent_id: AgentId.make(name),
  registration_id: agentRecord(name).registration_id,
  check_id: CheckId.make(check),
  labels,
  title: undefined,
  given_title: undefined,
  declared_title: undefined,
  labelled_at: after(0),
})

/** Incidents of three agents, whose labels and those of whose checks decide. */
const fillLabels = Effect.fnUntraced(function* (replica: Replica) {
  const agents = ["gate", "other", "web"].map((name) => AgentId.make(name))
  yield* write(replica, [{ agents }], (unit) => {
    unit.putAgent(agentRecord("gate", { hostname: "gate", labels: { site: "a" } }))
    unit.putAgent(agentRecord("web", { hostname: "web", labels: { role: "web", site: "a" } }))
    unit.putAgent(agentRecord("other", { hostname: "other", labels: { role: "web", rack: "7" } }))
    for (const [name, check] of [
      ["gate", "uplink"],
      ["web", "disk"],
      ["other", "disk"],
    ] as const) {
      unit.incidents.put(incidentRecord(`of ${name}`, ONE_CRITICAL))
      unit.members.put(memberRecord({ incident: `of ${name}`, agent: name, check }))
    }
    unit.of("check_label").put(labelled("gate", "uplink", { role: "gate" }))
    unit.of("check_label").put(labelled("gate", "disk", { role: "web" }))
  })
  yield* write(replica, [{ agents }], (unit) =>
    unit.putAgent(agentRecord("other", { hostname: "other", labels: { role: "web", site: "b" } })),
  )
})

/** The rows among which the parents of incidents are. */
export const parentSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("possible parents", () => {
    it.effect("are open incidents of agents, checks and keys, and agents that are named or stale", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* fill(replica)
        const find = (asked: Partial<ParentSearch>) =>
          search(replica, "parents", { ...NOTHING, ...asked }, (parents) => [
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

    it.effect("are open incidents of hosts, and of members with labels of their check or their agent", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* fillLabels(replica)
        const find = (asked: Partial<ParentSearch>) =>
          search(replica, "parents", { ...NOTHING, ...asked }, (parents) =>
            parents.incidents.map(({ incident_key }): string => incident_key).toSorted(),
          )
        const has = (labels: Labels, check_id?: string) => find({ labelled: [{ labels, check_id }] })
        assert.deepStrictEqual(yield* find({ hostnames: ["gate", "unknown"] }), ["of gate"])
        assert.deepStrictEqual(yield* has({ site: "a" }), ["of gate", "of web"])
        assert.deepStrictEqual(yield* has({ site: "a" }, "uplink"), ["of gate"])
        assert.deepStrictEqual(yield* has({ role: "gate" }), ["of gate"])
        assert.deepStrictEqual(yield* has({ role: "gate", site: "a" }), ["of gate"])
        assert.deepStrictEqual(yield* has({ site: "a", role: "gate" }, "disk"), [])
        assert.deepStrictEqual(yield* has({ role: "gate", site: "b" }), [])
        assert.deepStrictEqual(yield* has({ role: "web" }), ["of other", "of web"])
        // The other agent lost a label, and got one.
        assert.deepStrictEqual(yield* has({ rack: "7" }), [])
        assert.deepStrictEqual(yield* has({ site: "b" }), ["of other"])
        const several = { hostnames: ["gate"], labelled: [{ labels: { site: "b" }, check_id: undefined }] }
        assert.deepStrictEqual(yield* find(several), ["of gate", "of other"])
      }),
    )

    it.effect("of a dependency of labels alone are as many as have the values of the child", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* fillLabels(replica)
        const names = Array.from({ length: 20 }, (_, n) => `far-${n}`)
        yield* write(replica, [{ agents: names.map((name) => AgentId.make(name)) }], (unit) => {
          for (const name of names) {
            unit.putAgent(agentRecord(name, { labels: { site: name, role: "gate" } }))
            unit.incidents.put(incidentRecord(`of ${name}`, ONE_CRITICAL))
            unit.members.put(memberRecord({ incident: `of ${name}`, agent: name, check: "uplink" }))
          }
        })
        const policy = compilePolicy(
          {
            dependencies: [
              {
                parent: [{ field: "label:role", op: "=", value: "gate" }],
                child: [{ field: "label:role", op: "=", value: "web" }],
                equal: ["label:site"],
              },
            ],
          },
          ["debug"],
        )
        const options = { policy: () => policy, staleAfter: Duration.minutes(2) }
        const holds = lone(function* (unit, now) {
          const { onNew } = yield* gatherFacts(unit, [incidentRecord("of web", ONE_CRITICAL)], options, now)
          return onNew(incidentRecord("of web", ONE_CRITICAL)).map(({ by }): string => by)
        })
        assert.include(yield* transact(replica.storage, holds), "parent:of gate")
      }),
    )
  })
}

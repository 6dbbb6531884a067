import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { observe, rowOf, search } from "./observe.ts"
import { agentRecord, blacklistIdOf, keyHashOf, registrationIdOf } from "./records.ts"
import { openReplica } from "./Replica.ts"
import { enroll, eventId, eventOf, heartbeatOf, keyOf, register, send } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"
import { testsFrom } from "./testsFrom.ts"

const [a, b, c, nobody] = [AgentId.make("a"), AgentId.make("b"), AgentId.make("c"), AgentId.make("nobody")]
const [disk, cpu] = [CheckId.make("disk"), CheckId.make("cpu")]
const named = (name: string) => ({ kind: "named" as const, incident_key: IncidentKey.make(name) })

/** More than one statement of SQLite or PostgreSQL takes as parameters. */
const MANY = 70_000

/**
 * The rows that a decision sees for each part of a row request about agents: rows that exist, rows
 * that do not, and no others.
 */
export const rowRequestSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const test = testsFrom(openReplica(subject), it.effect)

  describe("row requests of agents", () => {
    test("agents by name, present or known to be absent", function* (replica) {
      yield* enroll(replica, "a", "b")
      // No row is locked, so skipping locked rows changes nothing.
      for (const rowRequest of [
        { agents: [a, nobody] },
        { agents: [a, nobody], skipLocked: true as const },
      ]) {
        const seen = yield* observe(replica, [rowRequest], ({ agents }) => ({
          a: agents.get(a)?.hostname,
          nobody: agents.get(nobody),
          isOtherLoaded: agents.isLoaded(b),
        }))
        assert.deepStrictEqual(seen, { a: "a.example.org", nobody: undefined, isOtherLoaded: false })
      }
    })

    test("keys in every state; those of an agent without its blocked keys", function* (replica) {
      const { admission, ingest } = replica
      yield* enroll(replica, "a", "c")
      for (const key of ["a second", "a third", "a fourth"]) {
        yield* ingest.heartbeat(keyOf(key), heartbeatOf("a"))
        if (key === "a second") yield* admission.accept(a)
        if (key === "a third") yield* admission.block(a)
      }
      const names = ["a", "a second", "a third", "a fourth", "unknown"]
      const states = yield* observe(replica, [{ rows: { agent_key: names.map(keyHashOf) } }], ({ keys }) =>
        names.map((name) => keys.get(keyHashOf(name))?.state),
      )
      assert.deepStrictEqual(states, ["superseded", "accepted", "blocked", "pending", undefined])
      const hashes = yield* observe(replica, [{ groups: { agent_key: [a, nobody] } }], (unit) => ({
        a: unit.keys
          .group("a")
          .map((key) => key.key_hash)
          .toSorted(),
        isKnown: [a, nobody, c].map((id) => unit.keyed.hasGroup("agent_key", id)),
        isOtherLoaded: unit.keys.isLoaded(keyHashOf("c")),
      }))
      assert.deepStrictEqual(hashes, {
        a: ["a", "a second", "a fourth"].map(keyHashOf).toSorted(),
        isKnown: [true, true, false],
        isOtherLoaded: false,
      })
    })

    test("blacklist rows with their keys", function* (replica) {
      yield* register(replica, "a", "b")
      yield* replica.admission.blockAll
      const ids = ["a", "unknown"].map(blacklistIdOf)
      const seen = yield* search(replica, "blockedKeys", ids, (found, { keys }) => ({
        rows: found.map(({ key_hash }) => key_hash),
        state: keys.get(keyHashOf("a"))?.state,
        isOtherLoaded: keys.isLoaded(keyHashOf("b")),
      }))
      assert.deepStrictEqual(seen, {
        rows: [keyHashOf("a")],
        state: "blocked",
        isOtherLoaded: false,
      })
    })

    test("checks of the current registration, requested with their agent or after it", function* (replica) {
      yield* enroll(replica, "a", "b")
      yield* send(replica, "a", [eventOf(1, { check_id: "disk" })])
      yield* send(replica, "b", [eventOf(2, { check_id: "cpu" })])
      const checks = { agent_id: a, check_ids: [disk, cpu] }
      for (const rowRequests of [[{ agents: [a], checks }], [{ agents: [a] }, { checks }]]) {
        const seen = yield* observe(replica, rowRequests, (unit) => {
          const registration_id = unit.agents.get(a)?.registration_id ?? registrationIdOf("none")
          return [disk, cpu].map(
            (check_id) => unit.checks.get({ agent_id: a, registration_id, check_id })?.status,
          )
        })
        assert.deepStrictEqual(seen, ["critical", undefined])
      }
      const ofNobody = { agents: [nobody], checks: { agent_id: nobody, check_ids: [disk] } }
      assert.isUndefined(yield* observe(replica, [ofNobody], ({ agents }) => agents.get(nobody)))
    })

    test("no checks or events of a former registration", function* (replica) {
      yield* enroll(replica, "a")
      yield* send(replica, "a", [eventOf(1)])
      yield* replica.admission.remove(a)
      yield* enroll(replica, "a")
      const asked = {
        agents: [a],
        checks: { agent_id: a, check_ids: [disk] },
        history: { agent_id: a, event_ids: [eventId(1)] },
      }
      const seen = yield* observe(replica, [{ agents: [a] }, asked], ({ agents, checks, knownEvents }) => {
        const registration_id = agents.get(a)?.registration_id ?? registrationIdOf("none")
        return [
          checks.get({ agent_id: a, registration_id, check_id: disk }),
          knownEvents.has(registration_id, eventId(1)),
        ]
      })
      assert.deepStrictEqual(seen, [undefined, false])
    })

    test("which events are in the history, for any check", function* (replica) {
      yield* enroll(replica, "a", "b")
      yield* send(replica, "a", [
        eventOf(1),
        eventOf(2, { check_id: "cpu" }),
        eventOf(3, { check_id: "cpu" }),
      ])
      yield* send(replica, "b", [eventOf(4)])
      const event_ids = [1, 2, 3, 4, 5].map(eventId)
      const seen = yield* observe(
        replica,
        [{ agents: [a] }, { history: { agent_id: a, event_ids } }],
        ({ agents, knownEvents }) => {
          const registration_id = agents.get(a)?.registration_id ?? registrationIdOf("none")
          return event_ids.map((id) => knownEvents.has(registration_id, id))
        },
      )
      // The third repeats the second, so no row was stored for it.
      assert.deepStrictEqual(seen, [true, true, false, false, false])
    })

    test("the number of pending agents", function* (replica) {
      const count = observe(replica, [{ pendingAgents: true }], (unit) => unit.pendingAgents)
      assert.strictEqual(yield* count, 0)
      yield* register(replica, "a", "b", "c")
      assert.strictEqual(yield* count, 3)
      yield* replica.admission.accept(a)
      yield* replica.ingest.heartbeat(keyOf("a second"), heartbeatOf("a"))
      assert.strictEqual(yield* count, 2)
      yield* replica.admission.block(b)
      yield* replica.admission.remove(c)
      assert.strictEqual(yield* count, 0)
    })

    test("all parts in one request, empty parts, and more names than one statement has parameters", function* (replica) {
      yield* enroll(replica, "a")
      yield* send(replica, "a", [eventOf(1, { incident_key: "shared" })])
      const many = <Id>(of: (n: number) => Id) => Array.from({ length: MANY }, (_, n) => of(n))
      const rowRequest = {
        agents: [a, ...many((n) => AgentId.make(`agent-${n}`))],
        rows: { agent_key: [keyHashOf("a")] },
        groups: { agent_key: [a], incident_member: [a] },
        openIncidents: [named("shared")],
        pendingAgents: true as const,
      }
      const checks = { agent_id: a, check_ids: [disk, ...many((n) => CheckId.make(`check-${n}`))] }
      const history = { agent_id: a, event_ids: [eventId(1)] }
      const nothing = {
        agents: [],
        rows: { agent_key: [], incident_member: [] },
        groups: { agent_key: [], incident_member: [] },
        checks: { agent_id: a, check_ids: [] },
        history: { agent_id: a, event_ids: [] },
        incidents: [],
        openIncidents: [],
      }
      const seen = yield* observe(replica, [{ ...rowRequest, checks }, { history }, nothing], (unit) => {
        const registration_id = unit.agents.get(a)?.registration_id ?? registrationIdOf("none")
        return {
          check: unit.checks.get({ agent_id: a, registration_id, check_id: disk })?.status,
          lastCheck: unit.checks.get({
            agent_id: a,
            registration_id,
            check_id: CheckId.make(`check-${MANY - 1}`),
          }),
          key: unit.keys.get(keyHashOf("a"))?.state,
          incident: unit.openIncident(named("shared"))?.severity,
          members: unit.membershipsOf(a).length,
          isKnown: unit.knownEvents.has(registration_id, eventId(1)),
          pending: unit.pendingAgents,
        }
      })
      assert.deepStrictEqual(seen, {
        check: "critical",
        lastCheck: undefined,
        key: "accepted",
        incident: "critical",
        members: 1,
        isKnown: true,
        pending: 0,
      })
    })

    test("a row keeps a decision's changes when it is requested again", function* (replica) {
      yield* enroll(replica, "a")
      yield* transact(replica.storage, function* (unit) {
        yield { agents: [a] }
        unit.putAgent(agentRecord("a", { hostname: "changed" }))
        yield { agents: [a], groups: { agent_key: [a] } }
        unit.keys.delete(keyHashOf("a"))
        yield { rows: { agent_key: [keyHashOf("a")] }, groups: { agent_key: [a] } }
      })
      assert.strictEqual((yield* replica.storage.agent(a))?.hostname, "changed")
      const key = yield* rowOf(replica, "agent_key", keyHashOf("a"))
      assert.isUndefined(key)
    })
  })
}

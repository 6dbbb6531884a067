import { assert, describe, it } from "@effect/vitest"
import { AgentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { Effect } from "effect"
import { observe, search } from "./observe.ts"
import { incidentIdOf, incidentRecord, memberRecord, outboxIdOf, outboxRecord, write } from "./records.ts"
import { openReplica } from "./Replica.ts"
import { start } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const [a, b, c, nobody] = [AgentId.make("a"), AgentId.make("b"), AgentId.make("c"), AgentId.make("nobody")]
const named = (name: string) => ({ kind: "named" as const, incident_key: IncidentKey.make(name) })

/** The rows that a decision sees for each part of a row request about incidents. */
export const incidentRowRequestSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("row requests of incidents", () => {
    it.effect("incidents by ID and open ones by key, with their outbox except items discarded untried", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const states = ["pending", "sending", "sent", "retry", "failed", "discarded"] as const
        yield* write(replica, [], (unit) => {
          unit.incidents.put(incidentRecord("x"))
          unit.incidents.put(incidentRecord("automatic x", { ...named("x"), kind: "automatic" }))
          unit.incidents.put(
            incidentRecord("old x", { ...named("x"), state: "resolved", resolved_at: start }),
          )
          unit.incidents.put(incidentRecord("y", { state: "resolved", resolved_at: start }))
          for (const state of states) unit.outbox.put(outboxRecord(state, "x", { state }))
          unit.outbox.put(outboxRecord("shadow", "x", { state: "discarded", discarded_because: "shadowed" }))
          unit.outbox.put(outboxRecord("replaced", "x", { state: "discarded", first_attempted_at: start }))
          unit.outbox.put(
            outboxRecord("gone", "x", { state: "discarded", attempts: 1, last_error: "answered 500" }),
          )
          unit.outbox.put(outboxRecord("of old", "old x"))
        })
        const refs = [named("x"), { ...named("x"), kind: "automatic" as const }, named("y"), named("z")]
        // Two of the four discarded items: that of a shadow receiver, and one that was attempted.
        const kept = [...states, "discarded"].toSorted()
        const byKey = yield* observe(replica, [{ openIncidents: refs }], (unit) => ({
          ids: refs.map((ref) => unit.openIncidents.get(ref)?.id),
          rows: refs.map((ref) => unit.openIncident(ref)?.kind),
          items: unit.outbox
            .group(incidentIdOf("x"))
            .map((item) => item.state)
            .toSorted(),
          isOldLoaded: unit.outbox.isLoaded(outboxIdOf("of old")),
        }))
        assert.deepStrictEqual(byKey, {
          ids: [incidentIdOf("x"), incidentIdOf("automatic x"), undefined, undefined],
          rows: ["named", "automatic", undefined, undefined],
          items: kept,
          isOldLoaded: false,
        })
        const ids = ["x", "old x", "nothing"].map(incidentIdOf)
        const byId = yield* observe(replica, [{ incidents: ids }], (unit) => ({
          states: ids.map((id) => unit.incidents.get(id)?.state),
          items: ids.map((id) => unit.outbox.group(id).length),
          open: unit.openIncidents.get(named("x"))?.id,
        }))
        assert.deepStrictEqual(byId, {
          states: ["open", "resolved", undefined],
          items: [kept.length, 1, 0],
          open: incidentIdOf("x"),
        })
        const read = yield* search(replica, "outboxToRead", ids, (found, unit) => ({
          states: found.map((item) => item.state).toSorted(),
          isLoaded: unit.outbox.isLoaded(outboxIdOf("of old")),
        }))
        assert.deepStrictEqual(read, { states: [...kept, "pending"].toSorted(), isLoaded: false })
      }),
    )

    it.effect("members by name, present, past or absent; present members of agents", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const member = (incident: string, agent: string, check: string, left = false) =>
          memberRecord({ incident, agent, check }, left ? { left_at: start } : {})
        const present = [member("x", "a", "disk"), member("y", "a", "disk"), member("x", "b", "disk")]
        const past = [member("x", "a", "cpu", true), member("x", "c", "disk", true)]
        yield* write(replica, [], (unit) => {
          for (const name of ["x", "y"]) unit.incidents.put(incidentRecord(name))
          for (const row of [...present, ...past]) unit.members.put(row)
        })
        const refs = [member("x", "a", "disk"), member("x", "a", "cpu"), member("y", "b", "disk")]
        const byName = yield* observe(
          replica,
          [{ incidents: [incidentIdOf("x"), incidentIdOf("y")], rows: { incident_member: refs } }],
          ({ members }) => refs.map((ref) => members.get(ref)?.left_at),
        )
        assert.deepStrictEqual(byName, [undefined, start, undefined])
        const ofAgents = yield* observe(
          replica,
          [{ groups: { incident_member: [a, c, nobody] } }],
          (unit) => ({
            a: unit
              .membershipsOf(a)
              .map((row) => `${row.incident_id}/${row.check_id}`)
              .toSorted(),
            others: [b, c, nobody].map((id) => unit.membershipsOf(id).length),
            isPastLoaded: past.some((row) => unit.members.isLoaded(row)),
            isKnown: [a, b, c, nobody].map((id) => unit.keyed.hasGroup("incident_member", id)),
          }),
        )
        assert.deepStrictEqual(ofAgents, {
          a: [`${incidentIdOf("x")}/disk`, `${incidentIdOf("y")}/disk`].toSorted(),
          others: [0, 0, 0],
          isPastLoaded: false,
          isKnown: [true, false, true, true],
        })
      }),
    )

    it.effect("the worst members of an incident, up to the limit", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const rows = (["warning", "critical", "unknown", "critical", "warning", "unknown"] as const).map(
          (severity, index) =>
            memberRecord(
              { incident: "x", agent: "a", check: `c${index}` },
              { severity, change_seq: 10 + index },
            ),
        )
        yield* write(replica, [], (unit) => {
          for (const name of ["x", "empty"]) unit.incidents.put(incidentRecord(name))
          for (const row of rows) unit.members.put(row)
          const gone = { change_seq: 99, left_at: start }
          unit.members.put(memberRecord({ incident: "x", agent: "a", check: "gone" }, gone))
          unit.members.put(memberRecord({ incident: "empty", agent: "a", check: "gone" }, gone))
        })
        const worst = (name: string, limit: number) => {
          const incident_id = incidentIdOf(name)
          const rowRequests = [{ incidents: [incident_id] }, { worstMembers: { incident_id, limit } }]
          return observe(replica, rowRequests, (unit) => {
            const ranking = unit.rankings.get(incident_id)
            return {
              members: unit
                .membersOf(incident_id)
                .map((member): string => member.check_id)
                .toSorted(),
              floor: ranking?.floor?.check_id,
              complete: ranking?.complete,
              limit: ranking?.limit,
            }
          })
        }
        assert.deepStrictEqual<unknown>(yield* worst("x", 1), {
          members: ["c3"],
          floor: "c3",
          complete: false,
          limit: 1,
        })
        assert.deepStrictEqual<unknown>(yield* worst("x", 4), {
          members: ["c1", "c2", "c3", "c5"],
          floor: "c2",
          complete: false,
          limit: 4,
        })
        const all = ["c0", "c1", "c2", "c3", "c4", "c5"]
        assert.deepStrictEqual<unknown>(yield* worst("x", 7), {
          members: all,
          floor: "c0",
          complete: true,
          limit: 7,
        })
        assert.deepStrictEqual<unknown>(yield* worst("empty", 8), {
          members: [],
          floor: undefined,
          complete: true,
          limit: 8,
        })
        // A storage whose last piece is full may not know that it was the last.
        assert.deepStrictEqual<unknown>((yield* worst("x", 6)).members, all)
      }),
    )
  })
}

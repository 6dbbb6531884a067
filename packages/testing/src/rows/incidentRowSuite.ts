import { describe, it } from "@effect/vitest"
import { isUntried } from "@tocsin/core/heart/model/OutboxRecord"
import { Effect } from "effect"
import * as fc from "fast-check"
import { assertSame } from "../assertSame.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "../forAll.ts"
import { observe, rowOf, search } from "../observe.ts"
import { atMost, write } from "../records.ts"
import { openReplica, type Replica } from "../Replica.ts"
import { rowsOf } from "../rowsOf.ts"
import type { StorageUnderTest } from "../StorageUnderTest.ts"
import * as arbitrary from "./incidentRecords.ts"

const RUNS = 40

const twice = <A>(rows: fc.Arbitrary<A>) => fc.tuple(rows, rows)

const incidentRoundTrip = (replica: Replica) =>
  forAll(twice(arbitrary.incidentRecord), { runs: RUNS }, ([first, second]) =>
    Effect.gen(function* () {
      const { id, kind, incident_key, opened_at, opener_agent_id, opener_check_id } = first
      const fixed = { id, kind, incident_key, opened_at, opener_agent_id, opener_check_id }
      const resolved = {
        ...second,
        ...fixed,
        state: "resolved" as const,
        resolved_at: second.resolved_at ?? opened_at,
      }
      for (const incident of [first, { ...second, ...fixed }, resolved]) {
        yield* write(replica, [{ incidents: [id] }], ({ incidents }) => incidents.put(incident))
        assertSame(
          yield* observe(replica, [{ incidents: [id] }], ({ incidents }) => incidents.get(id)),
          incident,
        )
        const listed = yield* rowsOf(replica, "incidents", { state: incident.state })
        assertSame(
          listed.find((row) => row.id === id),
          incident,
        )
      }
    }),
  )

const memberRoundTrip = (replica: Replica) =>
  forAll(
    fc.tuple(arbitrary.incidentRecord, twice(arbitrary.memberRecord)),
    { runs: RUNS },
    ([row, [first, second]]) =>
      Effect.gen(function* () {
        const incident = { ...row, state: "resolved" as const, resolved_at: row.opened_at }
        const ref = { incident_id: incident.id, agent_id: first.agent_id, check_id: first.check_id }
        yield* write(replica, [], ({ incidents }) => incidents.put(incident))
        const rowRequests = [{ incidents: [incident.id] }, { rows: { incident_member: [ref] } }]
        // The last one is put over a row that this decision did not load.
        for (const [member, loads] of [
          [first, rowRequests],
          [{ ...second, ...ref }, rowRequests],
          [{ ...first, ...ref }, []],
        ] as const) {
          const written = { ...member, ...ref }
          yield* write(replica, loads, ({ members }) => members.put(written))
          assertSame(yield* observe(replica, rowRequests, ({ members }) => members.get(ref)), written)
          const of = yield* observe(replica, [{ groups: { incident_member: [ref.agent_id] } }], (unit) =>
            unit.membershipsOf(ref.agent_id).filter((found) => found.incident_id === ref.incident_id),
          )
          assertSame(of, written.left_at === undefined ? [written] : [])
        }
      }),
  )

const outboxRoundTrip = (replica: Replica) =>
  forAll(
    fc.tuple(arbitrary.incidentRecord, twice(arbitrary.outboxRecord)),
    { runs: RUNS },
    ([row, [first, second]]) =>
      Effect.gen(function* () {
        const incident = { ...row, state: "resolved" as const, resolved_at: row.opened_at }
        yield* write(replica, [], ({ incidents }) => incidents.put(incident))
        const { id, notifier, event_type, incident_seq, severity, summary, created_at } = first
        const fixed = { id, notifier, event_type, incident_seq, severity, summary, created_at }
        const rowRequests = [{ incidents: [incident.id] }]
        for (const item of [first, second]) {
          const written = { ...item, ...fixed, incident_id: incident.id }
          yield* write(replica, rowRequests, ({ outbox }) => outbox.put(written))
          const loaded = yield* observe(replica, rowRequests, ({ outbox }) => outbox.group(incident.id))
          assertSame(loaded, isUntried(written) ? [] : [written])
          const listed = yield* rowsOf(replica, "outbox", { state: written.state })
          assertSame(
            listed.filter((found) => found.id === id),
            [written],
          )
          // An untried item is not loaded again, and not changed either.
          if (isUntried(written)) break
        }
      }),
  )

const alertRoundTrip = (replica: Replica) =>
  forAll(
    fc.tuple(arbitrary.incidentRecord, twice(arbitrary.alertRecord)),
    { runs: RUNS },
    ([row, [first, second]]) =>
      Effect.gen(function* () {
        const incident = { ...row, state: "resolved" as const, resolved_at: row.opened_at }
        yield* write(replica, [], ({ incidents }) => incidents.put(incident))
        const { receiver, severity } = first
        const ref = { receiver, incident_id: incident.id, severity }
        const rowRequests = [{ incidents: [incident.id] }]
        for (const alert of [
          { ...first, ...ref },
          { ...second, ...ref },
        ]) {
          yield* write(replica, [{ rows: { alert: [ref] } }], ({ alerts }) => alerts.put(alert))
          assertSame(yield* observe(replica, rowRequests, ({ alerts }) => alerts.group(incident.id)), [alert])
          assertSame(yield* rowOf(replica, "alert", ref), alert)
        }
        yield* write(replica, rowRequests, ({ alerts }) => alerts.delete(ref))
        assertSame(yield* rowOf(replica, "alert", ref), undefined)
      }),
  )

const timelineRoundTrip = (replica: Replica) =>
  forAll(
    fc.tuple(
      arbitrary.incidentRecord,
      fc.array(arbitrary.incidentChangeRecord, { minLength: 1, maxLength: 4 }),
      fc.array(arbitrary.incidentLogRecord, { maxLength: 4 }),
    ),
    { runs: RUNS },
    ([row, lines, deeds]) =>
      Effect.gen(function* () {
        const incident = { ...row, state: "resolved" as const, resolved_at: row.opened_at }
        const changes = lines.map((line, n) => ({ ...line, incident_id: incident.id, seq: n + 1 }))
        const log = deeds.map((act, n) => ({ ...act, incident_id: incident.id, seq: n + 1 }))
        yield* write(replica, [], (unit) => {
          unit.incidents.put(incident)
          for (const change of changes) unit.recordChange(change)
          for (const act of log) unit.recordLogEntry(act)
        })
        const scenario = yield* replica.storage.incident(incident.id, atMost(10))
        assertSame(scenario, {
          incident,
          members: [],
          labels: [],
          changes: changes.toReversed(),
          log: log.toReversed(),
          outbox: [],
        })
      }),
  )

const serviceHeartbeatRoundTrip = (replica: Replica) =>
  forAll(arbitrary.serviceHeartbeatRecord, { runs: RUNS }, (serviceHeartbeat) =>
    Effect.gen(function* () {
      yield* write(replica, [{ rows: { service_heartbeat: ["service"] } }], (unit) =>
        unit.of("service_heartbeat").put(serviceHeartbeat),
      )
      assertSame(yield* replica.storage.serviceHeartbeat, serviceHeartbeat)
      assertSame(yield* rowOf(replica, "service_heartbeat", "service"), serviceHeartbeat)
      // Holds that end in an outage are settled by it.
      const inForce = { endingAfter: serviceHeartbeat.beat_at }
      assertSame(
        yield* search(replica, "silencesInForce", inForce, (found) => found.serviceHeartbeat),
        serviceHeartbeat,
      )
    }),
  )

/** Every field of incidents and their rows is read as it was written, over its whole range. */
export const incidentRowSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const cases = {
    incidents: incidentRoundTrip,
    members: memberRoundTrip,
    "outbox items": outboxRoundTrip,
    alerts: alertRoundTrip,
    "scenarios of incidents": timelineRoundTrip,
    "the service heartbeat": serviceHeartbeatRoundTrip,
  }
  describe("rows of incidents are read as they were written", () => {
    for (const [name, roundTrip] of Object.entries(cases)) {
      it.effect(name, () => Effect.flatMap(openReplica(subject), roundTrip), PROPERTY_TIMEOUT_MILLIS)
    }
  })
}

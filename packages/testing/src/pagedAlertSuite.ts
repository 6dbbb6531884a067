import { assert, describe, it } from "@effect/vitest"
import {
  type IntegrationKind,
  IntegrationName,
  type IntegrationOptions,
} from "@tocsin/contract/integrations/Integrations"
import { AgentId, type IncidentId } from "@tocsin/contract/formats/Identifiers"
import { acknowledge } from "@tocsin/core/heart/acknowledgements/acknowledge"
import { acknowledgementInForce } from "@tocsin/core/heart/model/Acknowledgement"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { SenderRequest } from "@tocsin/core/features/integrations/Report"
import { newExpectation } from "@tocsin/core/heart/model/ExpectationRecord"
import { PagedAlertTransitions } from "@tocsin/core/features/integrations/PagedAlert"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { sweeps } from "./alertSender.ts"
import { write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowOf } from "./observe.ts"
import { rowsOf } from "./rowsOf.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const NAME = IntegrationName.make("pager")

type State = (typeof PagedAlertTransitions)[number]["from"]
type Trigger = (typeof PagedAlertTransitions)[number]["trigger"]

/** The request of each kind for what its sender reports of an alert: its method, place, query and body. */
type Sent = readonly [method: string, path: string, body: object]

const OPSGENIE: Readonly<Partial<Record<Trigger, (alias: string) => Sent>>> = {
  triggered: (alias) => ["POST", "v2/alerts", { alias, message: "disk full", priority: "P1" }],
  resolved: (alias) => ["POST", `v2/alerts/${alias}/close`, {}],
  acknowledged: (alias) => ["POST", `v2/alerts/${alias}/acknowledge`, { note: "on it" }],
  unacknowledged: (alias) => ["POST", `v2/alerts/${alias}/unacknowledge`, {}],
  amended: (alias) => ["PUT", `v2/alerts/${alias}/message`, { message: "disk fuller" }],
  noted: (alias) => ["POST", `v2/alerts/${alias}/notes`, { note: "looked at it" }],
}

const eventOf =
  (event_action: string) =>
  (dedup_key: string): Sent => [
    "POST",
    "v2/enqueue",
    { event_action, dedup_key, payload: { summary: "disk full", source: "db-1", severity: "critical" } },
  ]

const SENT: Readonly<Partial<Record<IntegrationKind, typeof OPSGENIE>>> = {
  opsgenie: OPSGENIE,
  pagerduty: {
    triggered: eventOf("trigger"),
    acknowledged: eventOf("acknowledge"),
    resolved: eventOf("resolve"),
  },
}

const BY_ALIAS: SenderRequest["query"] = [["identifierType", "alias"]]

/** An integration of a kind, and a sender of requests to it. */
const opened = Effect.fnUntraced(function* (
  { integrations }: Replica,
  kind: IntegrationKind,
  options: IntegrationOptions = {},
) {
  const { key } = yield* integrations.create({ name: NAME, kind, options })
  const sender = yield* integrations.recognise(Redacted.make(key))
  return ([method, path, body]: Sent, query = BY_ALIAS) =>
    integrations.report(kind, sender, {
      method,
      path: path.split("/"),
      query,
      body: JSON.stringify(body),
    })
})

const checkOf = (replica: Replica, name: string) =>
  Effect.map(rowsOf(replica, "checks"), (rows) => rows.find(({ check_id }) => check_id === name))

const incidentOf = Effect.fnUntraced(function* (replica: Replica, id: IncidentId | undefined) {
  return (yield* rowsOf(replica, "incidents")).find((incident) => incident.id === id)
})

/** The states of all alerts that are checks, as the table names them. */
const statesOf = Effect.fnUntraced(function* (replica: Replica) {
  const now = yield* Instant.now
  const incidents = new Map((yield* rowsOf(replica, "incidents")).map((row) => [row.id, row]))
  const stateOf = ({ incident_id, status }: CheckRecord): State => {
    if (status === "ok") return "resolved"
    const incident = incident_id === undefined ? undefined : incidents.get(incident_id)
    const by = incident && acknowledgementInForce(incident, now)?.by
    if (by === undefined) return "firing"
    return by === `integration:${NAME}` ? "acknowledged" : "taken_over"
  }
  const checks = yield* rowsOf(replica, "checks")
  return new Map(checks.map((check) => [String(check.check_id), stateOf(check)]))
})

/** An operator acknowledges the incident of an alert. */
const takes = Effect.fnUntraced(function* (replica: Replica, name: string) {
  const check = yield* checkOf(replica, name)
  const id = check?.incident_id ?? assert.fail("no incident")
  const until = { for: Duration.hours(1) }
  const by = { actor: "ann", via: "api", request_id: undefined, ...replica.incidents } as const
  yield* replica.commits.transact(acknowledge({ id, note: undefined, until, severity: undefined }, by))
})

/** The moves that lead to each state. */
const WAY: Readonly<Record<State, ReadonlyArray<Trigger>>> = {
  absent: [],
  resolved: ["triggered", "resolved"],
  firing: ["triggered"],
  acknowledged: ["triggered", "acknowledged"],
  taken_over: ["triggered", "taken"],
}

const movesByTheTable = (kind: IntegrationKind) => (replica: Replica) =>
  Effect.gen(function* () {
    const send = yield* opened(replica, kind)
    const does = Effect.fnUntraced(function* (trigger: Trigger, name: string) {
      if (trigger === "taken") return yield* takes(replica, name)
      const sent = SENT[kind]?.[trigger] ?? assert.fail(trigger)
      yield* send(sent(name))
    })
    const isMade = ({ trigger }: { readonly trigger: Trigger }) =>
      trigger === "taken" || SENT[kind]?.[trigger] !== undefined
    const rows = PagedAlertTransitions.filter(isMade).map((row) => ({
      ...row,
      name: `${row.from}.${row.trigger}`,
    }))
    const are = Effect.fnUntraced(function* (end: "from" | "to") {
      const states = yield* statesOf(replica)
      for (const row of rows) assert.strictEqual(states.get(row.name) ?? "absent", row[end], row.name)
    })
    for (const { from, name } of rows) for (const step of WAY[from]) yield* does(step, name)
    yield* are("from")
    for (const { name, trigger } of rows) yield* does(trigger, name)
    yield* are("to")
  })

/** Amendments and notes leave the state, and show their texts. */
const showsTexts = Effect.fnUntraced(function* (replica: Replica) {
  const send = yield* opened(replica, "opsgenie")
  const [create, note] = [OPSGENIE.triggered?.("disk"), OPSGENIE.noted?.("disk")]
  if (create === undefined || note === undefined) return assert.fail("no requests")
  yield* send(["POST", "v2/alerts", { ...create[2], description: "90 %" }])
  yield* send(["PUT", "v2/alerts/disk/message", { message: "disk fuller" }])
  yield* send(["PUT", "v2/alerts/disk/description", { description: "95 %" }])
  yield* send(note)
  const check = yield* checkOf(replica, "disk")
  assert.deepStrictEqual([check?.status, check?.summary], ["critical", "disk fuller\n95 %"])
  const seen = (yield* rowsOf(replica, "audit")).find(({ action }) => action === "incident.noted")
  assert.deepStrictEqual([seen?.actor, seen?.parameters], [`integration:${NAME}`, { text: "looked at it" }])
})

/** Notes that no operator may write: they are cut, and lose what some storages refuse. */
const takesAnyNote = Effect.fnUntraced(function* (replica: Replica) {
  const send = yield* opened(replica, "opsgenie")
  const create = OPSGENIE.triggered?.("disk") ?? assert.fail("no request")
  yield* send(create)
  const long = `a\0\ud800\nb${"🔔".repeat(5_000)}`
  for (const request of ["notes", "acknowledge"])
    yield* send(["POST", `v2/alerts/disk/${request}`, { note: long }])
  const seen = (yield* rowsOf(replica, "audit")).find(({ action }) => action === "incident.noted")
  assert.deepStrictEqual(seen?.parameters, { text: `a \ufffd\nb${"🔔".repeat(4_090)}…` })
  const incident = yield* incidentOf(replica, (yield* checkOf(replica, "disk"))?.incident_id)
  const { note } = (incident && acknowledgementInForce(incident, yield* Instant.now)) ?? assert.fail("none")
  assert.strictEqual(note, `a \ufffd b${"🔔".repeat(1_018)}…`)
})

/** Requests that name an alert by the ID that an answer stated. */
const findsByUuid = Effect.fnUntraced(function* (replica: Replica) {
  const send = yield* opened(replica, "opsgenie")
  const { answer } = yield* send(["POST", "v2/alerts", { alias: "a b", message: "disk full" }])
  const { requestId } = JSON.parse(answer?.body ?? "") as { readonly requestId: string }
  const asked = yield* send(["GET", `v2/alerts/requests/${requestId}`, {}])
  const { data } = JSON.parse(asked.answer?.body ?? "") as {
    readonly data: Readonly<Record<string, unknown>>
  }
  const { alertId, ...outcome } = data
  assert.deepStrictEqual(outcome, { success: true, isSuccess: true, status: "Created alert", alias: "a b" })
  const stranger = "01890a5d-ac96-774b-bcce-b302099a8057"
  yield* send(["POST", `v2/alerts/${stranger}/close`, {}], [])
  const statuses = Effect.map(rowsOf(replica, "checks"), (rows) => rows.map(({ status }) => status))
  assert.deepStrictEqual(yield* statuses, ["warning"])
  yield* send(["POST", `v2/alerts/${String(alertId)}/close`, { note: "gone" }], [])
  assert.deepStrictEqual(yield* statuses, ["ok"])
})

/** An alert that ended is forgotten; a heartbeat, and an alert that a rule expects, never are. */
const forgets = Effect.fnUntraced(function* (replica: Replica) {
  const send = yield* opened(replica, "opsgenie", { forget_after: "1h" })
  const both = (name: string) =>
    Effect.andThen(
      send(["POST", "v2/alerts", { alias: name, message: "x" }]),
      send(["POST", `v2/alerts/${name}/close`, {}]),
    )
  yield* both("early")
  yield* both("expected")
  const check = (yield* checkOf(replica, "expected")) ?? assert.fail("no check")
  yield* write(replica, [{ agents: [NAME], rows: { expectation: [check] } }], (unit) =>
    unit.expectations.put(
      newExpectation(check, {
        origin: "policy",
        terms: { after_millis: 600_000, severity: "warning", notifications_enabled: true },
        expected_from: check.received_at,
      }),
    ),
  )
  yield* send(["GET", "v2/heartbeats/nightly/ping", {}])
  const passes = Effect.fnUntraced(function* (minutes: number) {
    yield* TestClock.adjust(Duration.minutes(minutes))
    yield* sweeps(replica, NAME)
  })
  const ids = Effect.map(rowsOf(replica, "checks"), (rows) => rows.map(({ check_id }) => check_id).toSorted())
  yield* passes(30)
  yield* both("late")
  yield* passes(31)
  assert.deepStrictEqual(yield* ids, ["expected", "heartbeat:nightly", "late"])
  yield* passes(30)
  assert.deepStrictEqual(yield* ids, ["expected", "heartbeat:nightly"])
  const heartbeat = (yield* checkOf(replica, "heartbeat:nightly")) ?? assert.fail("no heartbeat")
  const terms = (yield* rowOf(replica, "expectation", heartbeat))?.terms
  assert.deepInclude(terms, { after_millis: 600_000, severity: "unknown", incident: "own" })
})

/** An acknowledgement lasts as the option says, within the setting, and spares an incident with members of others. */
const acknowledgesItsOwn = Effect.fnUntraced(function* (replica: Replica) {
  const send = yield* opened(replica, "opsgenie", { acknowledged_for: "2h" })
  const acknowledgementOf = Effect.fnUntraced(function* (name: string) {
    const check = yield* checkOf(replica, name)
    const incident = (yield* incidentOf(replica, check?.incident_id)) ?? assert.fail("no incident")
    return { incident, found: acknowledgementInForce(incident, yield* Instant.now) }
  })
  const does = Effect.fnUntraced(function* (name: string) {
    for (const trigger of ["triggered", "acknowledged"] as const) {
      const sent = OPSGENIE[trigger]?.(name)
      if (sent !== undefined) yield* send(sent)
    }
    return yield* acknowledgementOf(name)
  })
  const found = (yield* does("disk")).found ?? assert.fail("not acknowledged")
  assert.strictEqual(found.note, "on it")
  // The setting allows an hour.
  assert.strictEqual(found.until - found.at, 3_600_000_000n)
  yield* replica.integrations.change(NAME, { options: { acknowledged_for: "0s" } })
  assert.isUndefined((yield* does("load")).found)
  yield* replica.integrations.change(NAME, { options: {} })
  const { incident } = yield* acknowledgementOf("load")
  const agent_id = AgentId.make("other")
  const request = [{ incidents: [incident.id] }, { worstMembers: { incident_id: incident.id, limit: 1 } }]
  yield* write(replica, request, (unit) => {
    const [member = assert.fail("no member")] = unit.membersOf(incident.id)
    unit.putMember({ ...member, agent_id, change_seq: member.change_seq + 1 })
    const members_critical = incident.members_critical + 1
    unit.incidents.put({ ...incident, members_critical, member_changes: incident.member_changes + 1 })
  })
  assert.isUndefined((yield* does("load")).found)
})

/** Alerts of paging services (docs/rules.md#pagerduty-and-opsgenie). */
export const pagedAlertSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("paged alerts", () => {
    for (const kind of ["opsgenie", "pagerduty"] as const)
      it.effect(`of ${kind} move by their table`, () =>
        Effect.flatMap(openReplica(subject), movesByTheTable(kind)),
      )
    it.effect("show the messages, descriptions and notes that follow", () =>
      Effect.flatMap(openReplica(subject), showsTexts),
    )
    it.effect("take notes of any text and length, as far as operators may write them", () =>
      Effect.flatMap(openReplica(subject), takesAnyNote),
    )
    it.effect("are found by the ID that their answer stated", () =>
      Effect.flatMap(openReplica(subject), findsByUuid),
    )
    it.effect("acknowledge their own incidents alone, as long as options and settings say", () =>
      Effect.flatMap(openReplica(subject, { longestAcknowledgement: Duration.hours(1) }), acknowledgesItsOwn),
    )
    it.effect("are forgotten once they ended, but no heartbeat is", () =>
      Effect.flatMap(openReplica(subject), forgets),
    )
  })
}

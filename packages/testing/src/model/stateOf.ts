import { AgentId, CheckId, type EventId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { checksOf } from "@tocsin/core/kernel/model/CheckRef"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { Duration, Effect } from "effect"
import { ALL } from "./deliveryActions.ts"
import { AGENTS, CHECKS, KEYS } from "./ModelNames.ts"
import { keyName } from "./commandOf.ts"
import { observe } from "../observe.ts"
import { atMost, keyHashOf } from "../records.ts"
import type { Replica } from "../Replica.ts"
import { listNames } from "@tocsin/core/lists/ListDefinitions"
import { rowsOf } from "../rowsOf.ts"

const agentIds = AGENTS.map((name) => AgentId.make(name))
const checkIds = CHECKS.map((name) => CheckId.make(name))
const keyHashes = AGENTS.flatMap((agent) => KEYS.map((key) => keyHashOf(keyName(agent, key))))
const refs = [
  "shared",
  "shared too",
  "a/disk",
  "B/CPU",
  "a/@heartbeat",
  "a/@overdue",
  "a/disk/@overdue",
  "B/CPU/@overdue",
].flatMap((text) =>
  (["named", "automatic"] as const).map((kind) => ({ kind, incident_key: IncidentKey.make(text) })),
)

/** All that decisions can see of an agent besides its row. */
const ofAgent = (unit: UnitOfWork, agentId: AgentId, eventIds: ReadonlyArray<EventId>) => {
  const agent = unit.agents.get(agentId)
  const keys = unit.keys.group(agentId).filter((key) => key.state !== "blocked")
  const memberships = unit.membershipsOf(agentId).map((row) => [`${row.incident_id}/${row.check_id}`, row])
  const own = {
    keys: Object.fromEntries(keys.map((key) => [key.key_hash, key])),
    memberships: Object.fromEntries(memberships),
  }
  if (agent === undefined) return own
  const { registration_id } = agent
  return {
    ...own,
    checks: checkIds.map((check_id) => unit.checks.get({ agent_id: agentId, registration_id, check_id })),
    expectations: checkIds.map((check_id) =>
      unit.expectations.get({ agent_id: agentId, registration_id, check_id }),
    ),
    known: eventIds.filter((id) => unit.knownEvents.has(registration_id, id)),
  }
}

const whatDecisionsSee = Effect.fnUntraced(function* (replica: Replica, eventIds: ReadonlyArray<EventId>) {
  const incidents = (yield* rowsOf(replica, "incidents")).map((row) => row.id)
  const agents = yield* rowsOf(replica, "agents")
  const rowRequests: ReadonlyArray<RowRequest> = [
    {
      agents: agentIds,
      rows: { agent_key: keyHashes },
      groups: { agent_key: agentIds, incident_member: agentIds },
      pendingAgents: true,
    },
    { incidents, openIncidents: refs },
    ...agentIds.map((agent_id) => ({
      checks: { agent_id, check_ids: checkIds },
      history: { agent_id, event_ids: eventIds },
    })),
    {
      rows: {
        expectation: agents.flatMap((agent) => checksOf(agent, checkIds)),
      },
    },
    ...incidents.map((incident_id) => ({ worstMembers: { incident_id, limit: 2 } })),
    {
      rows: {
        incident_member: incidents.flatMap((incident_id) =>
          agentIds.flatMap((agent_id) => checkIds.map((check_id) => ({ incident_id, agent_id, check_id }))),
        ),
      },
    },
  ]
  return yield* observe(replica, rowRequests, (unit) => ({
    pendingAgents: unit.pendingAgents,
    keys: keyHashes.map((hash) => unit.keys.get(hash)),
    agents: agentIds.map((id) => ofAgent(unit, id, eventIds)),
    open: refs.map((ref) => unit.openIncident(ref)?.id),
    floors: incidents.map((id) => unit.rankings.get(id)?.floor),
    members: incidents.flatMap((incident_id) =>
      agentIds.flatMap((agent_id) =>
        checkIds.map((check_id) => unit.members.get({ incident_id, agent_id, check_id })),
      ),
    ),
    outbox: incidents.map((id) => Object.fromEntries(unit.outbox.group(id).map((item) => [item.id, item]))),
    alerts: incidents.map((id) =>
      Object.fromEntries(unit.alerts.group(id).map((alert) => [alert.severity, alert])),
    ),
  }))
})

const STORY_ROWS = 3

/** The shown fields of each incident; of the outbox as much as there is, since items of one change are in no order. */
const scenariosOf = Effect.fnUntraced(function* (replica: Replica) {
  const scenarios: Array<unknown> = []
  for (const { id } of yield* rowsOf(replica, "incidents")) {
    const first = yield* replica.storage.incident(id, atMost(STORY_ROWS))
    const whole = yield* replica.storage.incident(id, atMost(ALL))
    scenarios.push({
      incident: first?.incident,
      members: first?.members,
      changes: first?.changes,
      whole: { ...whole, outbox: whole?.outbox.toSorted((a, b) => (a.id < b.id ? -1 : 1)) },
    })
  }
  return scenarios
})

const A_LEASE_OF_THE_STORY = Duration.days(10_000)

/** How long until something is due, where that does not depend on when the storage's clock granted a lease. */
const untilDue = Effect.fnUntraced(function* ({ storage }: Replica, receivers: ReadonlyArray<NotifierName>) {
  const time = yield* storage.untilNextDue(receivers, yield* Instant.now)
  if (time === undefined) return "nothing waits"
  return Duration.isGreaterThan(time, A_LEASE_OF_THE_STORY) ? "a lease" : Duration.toMillis(time)
})

/** After every time of a scenario. */
const LATEST = Instant.fromMicros(10n ** 17n)

const withoutSeq = <Row extends object>(row: Row) => ({ ...row, seq: undefined })

/** The expectations to be evaluated, but for those of deleted agents, which retention removes. */
const toEvaluate = Effect.fnUntraced(function* (replica: Replica) {
  const agents = yield* rowsOf(replica, "agents")
  const registrations = new Set(agents.map((agent) => agent.registration_id))
  const due = yield* replica.storage.dueRows("expectation", { now: LATEST, after: undefined, limit: ALL })
  return due.filter((row) => registrations.has(row.registration_id))
})

/** All of a storage's state that its port can show, in a form that two storages must have alike. */
export const stateOf = Effect.fnUntraced(function* (replica: Replica, eventIds: ReadonlyArray<EventId>) {
  const lists: Record<string, unknown> = {}
  for (const list of listNames) lists[list] = (yield* rowsOf(replica, list)).map(withoutSeq)
  return {
    lists,
    summary: yield* replica.queries.summary,
    scenarios: yield* scenariosOf(replica),
    oneByOne: yield* Effect.forEach(agentIds, (id) =>
      Effect.forEach(checkIds, (check) => replica.storage.check(id, check)),
    ),
    serviceHeartbeat: yield* replica.storage.serviceHeartbeat,
    toEvaluate: yield* toEvaluate(replica),
    due: [yield* untilDue(replica, ["debug"]), yield* untilDue(replica, ["alert_router", "messenger"])],
    withPendingKey: yield* replica.storage.agentsWithPendingKey(undefined, 100),
    seen: yield* whatDecisionsSee(replica, eventIds),
  }
})

import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord, StoredHistoryRecord } from "@tocsin/core/heart/model/CheckRecord"
import { twiceRef } from "@tocsin/core/heart/deadAgents/twiceIncident"
import { HEARTBEAT, type MemberRecord } from "@tocsin/core/heart/model/MemberRecord"
import { compareMembers } from "@tocsin/core/kernel/unitOfWork/Standings"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import type { ListRows } from "@tocsin/core/lists/ListDefinitions"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { observe } from "./observe.ts"
import type { Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"

const STATUSES: ReadonlyArray<CheckStatus> = ["ok", "warning", "critical", "unknown"]

const expectEqual = (what: string, found: unknown, expected: unknown): ReadonlyArray<string> =>
  Object.is(found, expected) ? [] : [`${what} is ${String(found)}, not ${String(expected)}`]

const countBy = <Row extends { readonly status: CheckStatus }>(
  rows: ReadonlyArray<Row>,
  status: CheckStatus,
) => rows.filter((row) => row.status === status).length

const ofAgent = (agent: AgentRecord, checks: ReadonlyArray<CheckRecord>): ReadonlyArray<string> => {
  const own = checks.filter((check) => check.agent_id === agent.agent_id)
  const counted = own.filter(({ withdrawn_at }) => withdrawn_at === undefined)
  return [
    ...STATUSES.flatMap((status) =>
      expectEqual(`${agent.agent_id}.checks_${status}`, agent[`checks_${status}`], countBy(counted, status)),
    ),
    ...own.flatMap((check) =>
      expectEqual(`the registration of ${check.check_id}`, check.registration_id, agent.registration_id),
    ),
  ]
}

const ofCheck = (check: CheckRecord, history: ReadonlyArray<StoredHistoryRecord>): ReadonlyArray<string> => {
  const name = `${check.agent_id}/${check.check_id}`
  const newest = history.find((row) => row.agent_id === check.agent_id && row.check_id === check.check_id)
  return [
    ...expectEqual(
      `whether ${name} is in an incident`,
      check.incident_id !== undefined,
      check.status !== "ok",
    ),
    ...expectEqual(`the newest stored status of ${name}`, newest?.status, check.status),
    ...expectEqual(`the newest stored exit code of ${name}`, newest?.exit_code, check.exit_code),
  ]
}

const ofOpen = (incident: IncidentRecord, members: ReadonlyArray<MemberRecord>): ReadonlyArray<string> => {
  const name = `incident ${incident.incident_key}`
  const worst = members.toSorted(compareMembers)[0]
  const single = members.length === 1 ? worst : undefined
  return [
    ...expectEqual(`${name}.severity`, incident.severity, worst?.severity),
    ...expectEqual(`${name}.summary`, incident.summary, worst?.summary),
    ...expectEqual(`${name}.agent_id`, incident.agent_id, single?.agent_id),
    ...expectEqual(`${name}.check_id`, incident.check_id, single?.check_id),
  ]
}

const ofIncident = (
  incident: IncidentRecord,
  members: ReadonlyArray<MemberRecord>,
): ReadonlyArray<string> => {
  const own = members.filter((member) => member.incident_id === incident.id)
  const count = (severity: MemberRecord["severity"]) =>
    own.filter((member) => member.severity === severity).length
  const name = `incident ${incident.incident_key}`
  return [
    ...(["warning", "unknown", "critical"] as const).flatMap((severity) =>
      expectEqual(`${name}.members_${severity}`, incident[`members_${severity}`], count(severity)),
    ),
    ...expectEqual(`whether ${name} is open`, incident.state === "open", own.length > 0),
    ...expectEqual(`whether ${name} has resolved_at`, incident.resolved_at !== undefined, own.length === 0),
    ...(incident.state === "open" ? ofOpen(incident, own) : []),
  ]
}

const duplicates = (what: string, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.filter((name, index) => names.indexOf(name) !== index).map((name) => `two ${what} ${name}`)

/** Stored rows that must agree with one another. */
export interface StoredRows {
  readonly agents: ReadonlyArray<AgentRecord>
  readonly checks: ReadonlyArray<CheckRecord>
  /** The newest first. */
  readonly history: ReadonlyArray<StoredHistoryRecord>
  readonly incidents: ReadonlyArray<IncidentRecord>
  /** The present ones. */
  readonly members: ReadonlyArray<MemberRecord>
  readonly overdue: ReadonlyArray<ListRows["overdue"]>
}

const memberships = (rows: ReadonlyArray<{ incident_id: unknown; agent_id: string; check_id: string }>) =>
  rows
    .map((row) => `${String(row.incident_id)}/${row.agent_id}/${row.check_id}`)
    .toSorted()
    .join(" ")

/**
 * Where stored rows contradict one another; empty when all is well. Whatever the order in which
 * commands were committed, counts, members, severities and histories agree afterwards
 * (docs/rules.md#events, docs/rules.md#incidents).
 */
export const contradictions = ({
  agents,
  checks,
  history,
  incidents,
  members,
  overdue,
}: StoredRows): ReadonlyArray<string> => [
  ...agents.flatMap((agent) => ofAgent(agent, checks)),
  ...checks.flatMap((check) => ofCheck(check, history)),
  ...incidents.flatMap((incident) => ofIncident(incident, members)),
  ...expectEqual(
    "the list of members",
    memberships(members),
    memberships([
      ...checks.filter((check) => check.incident_id !== undefined),
      ...overdue,
      ...agents.flatMap(({ agent_id, heartbeat_incident_id: incident_id }) =>
        incident_id === undefined ? [] : [{ incident_id, agent_id, check_id: HEARTBEAT }],
      ),
      ...agents.flatMap(({ agent_id, twice_at }) => {
        const { incident_key } = twiceRef(agent_id)
        const open = incidents.find((one) => one.incident_key === incident_key && one.state === "open")
        return twice_at === undefined || open === undefined
          ? []
          : [{ incident_id: open.id, agent_id, check_id: HEARTBEAT }]
      }),
    ]),
  ),
  ...checks.flatMap((check) =>
    expectEqual(
      `the incident in which ${check.agent_id}/${check.check_id} is overdue`,
      check.overdue_incident_id,
      overdue.find((row) => row.agent_id === check.agent_id && row.check_id === check.check_id)?.incident_id,
    ),
  ),
  ...duplicates(
    "open incidents",
    incidents.flatMap(({ incident_key, kind, state }) =>
      state === "open" ? [`${kind}/${incident_key}`] : [],
    ),
  ),
  ...duplicates(
    "rows of event",
    history.map((row) => `${row.registration_id}/${row.event_id}`),
  ),
]

/** The {@link contradictions} in a storage, and between its rows and its summary. */
export const inconsistencies = Effect.fnUntraced(function* (
  replica: Pick<Replica, "storage" | "queries">,
): Effect.fn.Return<ReadonlyArray<string>, StorageError> {
  const agents = yield* rowsOf(replica, "agents")
  const checks = yield* rowsOf(replica, "checks")
  const incidents = yield* rowsOf(replica, "incidents")
  const history = yield* rowsOf(replica, "history")
  const overdue = yield* rowsOf(replica, "overdue")
  const agentIds = agents.map((agent) => agent.agent_id)
  const members = yield* observe(replica, [{ groups: { incident_member: agentIds } }], (unit) =>
    agentIds.flatMap((agentId) => unit.membershipsOf(agentId)),
  )
  const counts = yield* replica.queries.summary
  const open = incidents.filter((incident) => incident.state === "open")
  return [
    ...contradictions({ agents, checks, history, incidents, members, overdue }),
    ...expectEqual("open_incidents", counts.open_incidents, open.length),
    ...STATUSES.flatMap((status) =>
      expectEqual(`the sum of checks_${status}`, counts[`checks_${status}`], countBy(checks, status)),
    ),
  ]
})

import { NotificationType, OutboxState } from "@tocsin/core/contract/Status"
import { SEVERITY_RANK } from "@tocsin/core/incidents/MemberRecord"
import type { ListFilters, ListName } from "@tocsin/core/engine/lists/ListDefinitions"
import { agentColumns } from "../tables/AgentTable.ts"
import { keyColumns } from "../tables/AgentKeyTable.ts"
import { checkColumns } from "../tables/CheckTable.ts"
import { historyColumns } from "../tables/HistoryTable.ts"
import { incidentColumns } from "../tables/IncidentTable.ts"
import { outboxColumns } from "../tables/OutboxTable.ts"
import type { ListSource } from "./ListSource.ts"
import type { Parameters } from "./Parameters.ts"

type Source<L extends ListName> = (filter: ListFilters[L], parameters: Parameters, sort: string) => ListSource

/**
 * Rows of a registration that is no agent's any more are not there, though not all of them may be purged yet. Each row's
 * agent is looked up by itself (OFFSET 0 sees to that): a join would be planned as if hardly any row had an agent.
 */
const ofPresentAgents = (table: string, alias: string): string =>
  `${table} AS ${alias} CROSS JOIN LATERAL (
    SELECT FROM agent WHERE agent_id = ${alias}.agent_id AND registration_id = ${alias}.registration_id OFFSET 0
  ) AS present`

/** The same for one agent, as conditions on the columns that an index begins with. */
const ofAgent = (alias: string, agentId: string): ReadonlyArray<string> => [
  `${alias}.agent_id = ${agentId}`,
  `${alias}.registration_id = (SELECT registration_id FROM agent WHERE agent_id = ${agentId})`,
]

const checks: Source<"checks"> = ({ agent_id }, parameters) => {
  const source = { columns: checkColumns, table: "check_state", alias: "c" }
  return agent_id === undefined
    ? { ...source, from: ofPresentAgents("check_state", "c"), conditions: [] }
    : { ...source, conditions: ofAgent("c", parameters.add(agent_id, "text")), fixed: new Set(["agent_id"]) }
}

const history: Source<"history"> = ({ agent_id, check_id }, parameters) => {
  const ofCheck = check_id === undefined ? [] : [`e.check_id = ${parameters.add(check_id, "text")}`]
  const source = { columns: historyColumns, table: "check_event", alias: "e" }
  // The primary key serves the whole list, and must not serve a part of it.
  const filtered = { ...source, expressions: { seq: "(e.seq + 0)" } }
  if (agent_id !== undefined) {
    return { ...filtered, conditions: [...ofAgent("e", parameters.add(agent_id, "text")), ...ofCheck] }
  }
  const from = ofPresentAgents("check_event", "e")
  return check_id === undefined
    ? { ...source, from, conditions: [] }
    : { ...filtered, from, conditions: ofCheck }
}

const STATE_RANK = { open: 1, resolved: 0 } as const

const incidents: Source<"incidents"> = (filter, parameters, sort) => {
  const { agent_id, check_id } = filter
  const source = { columns: incidentColumns, table: "incident", alias: "i", conditions: [] }
  const states = filter.state === undefined ? Object.values(STATE_RANK) : [STATE_RANK[filter.state]]
  const severities =
    filter.severity === undefined ? Object.values(SEVERITY_RANK) : [SEVERITY_RANK[filter.severity]]
  if (agent_id !== undefined || check_id !== undefined) {
    return {
      ...source,
      from: ofMembers(filter, parameters),
      conditions: [
        `i.state_rank = ANY(${parameters.add(states, "int2[]")})`,
        `i.severity_rank = ANY(${parameters.add(severities, "int2[]")})`,
      ],
    }
  }
  if (sort !== "status") {
    return {
      ...source,
      spread: [
        { name: "state_rank", values: `unnest(${parameters.add(states, "int2[]")})` },
        { name: "severity_rank", values: `unnest(${parameters.add(severities, "int2[]")})` },
      ],
    }
  }
  if (filter.state === undefined && filter.severity !== undefined) {
    return { ...source, first: { name: "severity_rank", value: parameters.add(severities[0], "int8") } }
  }
  const fixed = [
    ...(filter.state === undefined ? [] : [["state_rank", states[0]] as const]),
    ...(filter.severity === undefined ? [] : [["severity_rank", severities[0]] as const]),
  ]
  return {
    ...source,
    conditions: fixed.map(([name, rank]) => `i.${name} = ${parameters.add(rank, "int8")}`),
    fixed: new Set(fixed.map(([name]) => name)),
  }
}

/** Incidents in which such a check is or was a member: each is looked up by itself, so that only they are read and sorted. */
const ofMembers = ({ agent_id, check_id }: ListFilters["incidents"], parameters: Parameters): string => {
  const conditions = [
    ...(agent_id === undefined ? [] : [`m.agent_id = ${parameters.add(agent_id, "text")}`]),
    ...(check_id === undefined ? [] : [`m.check_id = ${parameters.add(check_id, "text")}`]),
  ]
  return `(SELECT DISTINCT m.incident_id FROM incident_member AS m WHERE ${conditions.join(" AND ")}) AS met
    CROSS JOIN LATERAL (SELECT * FROM incident WHERE id = met.incident_id OFFSET 0) AS i`
}

/**
 * The notifiers that items of one state are for: the next greater name each time, so that it takes a look for each name,
 * however many items there are. Which names there are is up to those who bring notifiers.
 */
export const NOTIFIERS_OF_STATE = `(
    WITH RECURSIVE found AS (
      (SELECT notifier FROM outbox WHERE state = of_state.state ORDER BY notifier LIMIT 1)
      UNION ALL
      SELECT (SELECT notifier FROM outbox WHERE state = of_state.state AND notifier > found.notifier ORDER BY notifier LIMIT 1)
      FROM found WHERE found.notifier IS NOT NULL
    )
    SELECT notifier FROM found WHERE notifier IS NOT NULL
  )`

const outbox: Source<"outbox"> = ({ state, notifier, event_type }, parameters) => {
  const source = { columns: outboxColumns, table: "outbox", alias: "o", conditions: [] }
  const oneOr = (one: string | undefined, all: ReadonlyArray<string>) =>
    `unnest(${parameters.add(one === undefined ? all : [one], "text[]")})`
  return {
    ...source,
    spread: [
      { name: "state", values: oneOr(state, OutboxState.literals) },
      { name: "notifier", values: notifier === undefined ? NOTIFIERS_OF_STATE : oneOr(notifier, []) },
      { name: "event_type", values: oneOr(event_type, NotificationType.literals) },
    ],
  }
}

/** The source of each list. */
export const listSources: { readonly [L in ListName]: Source<L> } = {
  agents: () => ({ columns: agentColumns, table: "agent", alias: "a", conditions: [] }),
  checks,
  history,
  incidents,
  outbox,
  blacklist: () => ({
    columns: keyColumns,
    table: "agent_key",
    alias: "k",
    conditions: ["k.state = 'blocked'"],
  }),
}

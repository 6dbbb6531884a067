import * as Instant from "@tocsin/contract/formats/Instant"
import { CheckStatus, type Severity } from "@tocsin/contract/formats/Status"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import { isHeld, type OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import {
  type Backlog,
  type BacklogState,
  CENSUS_LIMIT,
  isBacklogState,
  type MetricCounts,
  sortBacklog,
  type SummaryCounts,
} from "@tocsin/core/kernel/ports/Storage"
import type { MemoryTables } from "./MemoryTables.ts"

export const counts = (tables: MemoryTables, aliveSince: Instant.Instant): SummaryCounts => {
  const agents = Array.from(tables.agents.values())
  const accepted = agents.filter((agent) => agent.admission_state === "accepted")
  const online = accepted.filter((agent) => agent.last_seen_at > aliveSince).length
  const sum = (of: (agent: (typeof agents)[0]) => number) =>
    agents.reduce((total, agent) => total + of(agent), 0)
  return {
    agents_online: online,
    agents_offline: accepted.length - online,
    checks_ok: sum((agent) => agent.checks_ok),
    checks_warning: sum((agent) => agent.checks_warning),
    checks_critical: sum((agent) => agent.checks_critical),
    checks_unknown: sum((agent) => agent.checks_unknown),
    open_incidents: tables.openIncidents.named.size + tables.openIncidents.automatic.size,
  }
}

const upToLimit = (count: number): number => Math.min(count, CENSUS_LIMIT)

/** The counts for monitoring. */
export const metricCounts = (tables: MemoryTables): MetricCounts => {
  const agents = Array.from(tables.agents.values())
  const open = Array.from(tables.incidents.values()).filter(({ state }) => state === "open")
  const ofSeverity = (severity: Severity) =>
    upToLimit(open.filter((incident) => incident.severity === severity).length)
  return {
    agents_pending: agents.filter(({ admission_state }) => admission_state === "pending").length,
    agents_dead: agents.filter(
      (agent) => agent.admission_state === "accepted" && agent.heartbeat_incident_id !== undefined,
    ).length,
    // Each blocked key has another ID.
    keys_blocked: upToLimit(tables.keyed.agent_key.valuesOf("blacklist_id")),
    incidents: {
      warning: ofSeverity("warning"),
      critical: ofSeverity("critical"),
      unknown: ofSeverity("unknown"),
    },
    late: lateOf(tables),
    withdrawn: upToLimit(presentIn(tables, ({ withdrawn_at }) => withdrawn_at !== undefined).length),
    of_places: ofPlacesIn(tables),
    backlog: backlogOf(tables),
  }
}

const lateOf = ({ agents, checks, keyed }: MemoryTables): MetricCounts["late"] => {
  const counted = new Map<string, MetricCounts["late"][number]>()
  for (const { agent_id, check_id, incident_id, registration_id, terms } of keyed.expectation.values()) {
    if (incident_id === undefined || agents.get(agent_id)?.registration_id !== registration_id) continue
    const { severity } = terms
    const status = checks.get(registration_id)?.get(check_id)?.status ?? null
    const key = `${status}/${severity}`
    counted.set(key, { status, severity, checks: (counted.get(key)?.checks ?? 0) + 1 })
  }
  return Array.from(counted.values())
}

const presentIn = ({ agents, checks }: MemoryTables, isWanted: (check: CheckRecord) => boolean) =>
  Array.from(agents.values(), ({ registration_id }) => checks.get(registration_id)?.values() ?? []).flatMap(
    (all) => Array.from(all).filter(isWanted),
  )

const ofPlacesIn = (tables: MemoryTables): MetricCounts["of_places"] => {
  const found = presentIn(tables, ({ is_of_place }) => is_of_place !== undefined)
  return CheckStatus.literals.flatMap((status) => {
    const checks = found.filter((check) => check.status === status).length
    return checks === 0 ? [] : [{ status, checks }]
  })
}

const backlogOf = (tables: MemoryTables): ReadonlyArray<Backlog> => {
  const found = new Map<string, Backlog>()
  for (const item of tables.keyed.outbox.values()) {
    const { state } = item
    if (!isBacklogState(state) || isHeld(item)) continue
    const name = `${item.notifier}/${state}`
    found.set(name, withItem(found.get(name), item, state))
  }
  return sortBacklog(Array.from(found.values()))
}

const withItem = (
  backlog: Backlog | undefined,
  { notifier, age_starts_at }: OutboxRecord,
  state: BacklogState,
): Backlog => ({
  notifier,
  state,
  items: upToLimit((backlog?.items ?? 0) + 1),
  waiting_since: Instant.min(backlog?.waiting_since ?? age_starts_at, age_starts_at),
})

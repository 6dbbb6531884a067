import type { Severity } from "../contract/Status.ts"
import {
  type Backlog,
  type BacklogState,
  CENSUS_LIMIT,
  type MetricCounts,
  isBacklogState,
  sortBacklog,
} from "../liveness/MetricCounts.ts"
import type { OutboxRecord } from "../notifications/OutboxRecord.ts"
import type { MemoryTables } from "./MemoryTables.ts"

const upToLimit = (count: number): number => Math.min(count, CENSUS_LIMIT)

/** Takes the metricCounts of tables in memory, by passing over them. */
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
    keys_blocked: upToLimit(tables.blacklist.size),
    incidents: {
      warning: ofSeverity("warning"),
      critical: ofSeverity("critical"),
      unknown: ofSeverity("unknown"),
    },
    backlog: backlogOf(tables),
  }
}

const backlogOf = (tables: MemoryTables): ReadonlyArray<Backlog> => {
  const found = new Map<string, Backlog>()
  for (const item of tables.outbox.values()) {
    const { state } = item
    if (!isBacklogState(state)) continue
    const name = `${item.notifier}/${state}`
    found.set(name, withItem(found.get(name), item, state))
  }
  return sortBacklog(Array.from(found.values()))
}

const withItem = (
  backlog: Backlog | undefined,
  { notifier, created_at }: OutboxRecord,
  state: BacklogState,
): Backlog => ({
  notifier,
  state,
  items: upToLimit((backlog?.items ?? 0) + 1),
  oldest_created_at:
    backlog === undefined || created_at < backlog.oldest_created_at ? created_at : backlog.oldest_created_at,
})

import type { AgentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { IncidentRecord } from "@tocsin/core/incidents/IncidentRecord"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import { QUIET_KEPT, type Seen, type SystemTotals } from "@tocsin/core/liveness/SilenceScan"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

/** How many agents one step of a pass looks at: half a millisecond in which nobody else is answered. */
const STEP = 2_000

/** Comes after all text. */
const END = new Uint8Array()

type TotalsRow = readonly [
  agents_accepted: bigint,
  agents_dead: bigint,
  acceptances: bigint,
  checks_ok: bigint,
  checks_warning: bigint,
  checks_critical: bigint,
  checks_unknown: bigint,
  incidents_open: bigint,
]

type SeenRow = readonly [agent_id: AgentId, last_seen_at: Instant, is_dead: bigint]

const IS_SILENT = "admission_state = 'accepted' AND heartbeat_incident_id IS NULL AND last_seen_at <= ?"

const toTotals = (row: TotalsRow): SystemTotals => ({
  agents_accepted: Number(row[0]),
  agents_dead: Number(row[1]),
  acceptances: Number(row[2]),
  checks_ok: Number(row[3]),
  checks_warning: Number(row[4]),
  checks_critical: Number(row[5]),
  checks_unknown: Number(row[6]),
  open_incidents: Number(row[7]),
})

/** What a step of a pass over all agents found, and after whom the next one goes on; absent at the end. */
export interface Step {
  readonly quiet: ReadonlyArray<Seen>
  readonly dead: ReadonlyArray<Seen>
  readonly next: AgentId | undefined
}

/** Counts anew what {@link makeSystemTotalRows} keeps as incidents change; for whoever has written incidents without it. */
export const RECOUNT_OPEN_INCIDENTS =
  "UPDATE system_total SET incidents_open = (SELECT count(*) FROM incident WHERE state = 'open')"

const openCount = (incident: IncidentRecord | undefined): number => (incident?.state === "open" ? 1 : 0)

/** Table `system_total`, whose one row triggers keep but for open incidents, and looks at agents beside it. */
export const makeSystemTotalRows = (connection: SqliteConnection) => {
  const totals = connection.query<TotalsRow>(
    `SELECT agents_accepted, agents_dead, acceptances, checks_ok, checks_warning, checks_critical, checks_unknown,
      incidents_open FROM system_total WHERE writer = 0`,
  )
  const addOpenIncidents = connection.query<never>(
    "UPDATE system_total SET incidents_open = incidents_open + ? WHERE writer = 0",
  )
  const silentAmong = connection.query<[AgentId]>(
    `SELECT agent_id FROM json_each(?) AS wanted CROSS JOIN agent ON agent_id = wanted.value WHERE ${IS_SILENT} LIMIT ?`,
  )
  const lastOfStep = connection.query<[AgentId]>(
    `SELECT agent_id FROM agent WHERE agent_id > ? ORDER BY agent_id LIMIT 1 OFFSET ${STEP - 1}`,
  )
  const seenInStep = connection.query<SeenRow>(
    `SELECT agent_id, last_seen_at, heartbeat_incident_id IS NOT NULL FROM agent
    WHERE agent_id > ? AND agent_id <= ? AND admission_state = 'accepted'
      AND (last_seen_at <= ? OR heartbeat_incident_id IS NOT NULL)`,
  )
  const offline = connection.query<[bigint]>(
    "SELECT count(*) FROM agent WHERE admission_state = 'accepted' AND last_seen_at <= ?",
  )
  const find = (): SystemTotals => toTotals(totals.get() ?? NOTHING)
  const silent = (
    among: ReadonlyArray<AgentId>,
    seenBefore: Instant,
    limit: number,
  ): ReadonlyArray<AgentId> =>
    silentAmong
      .all(JSON.stringify(among), seenBefore, limit)
      .map(([agentId]) => agentId)
      .toSorted()
  return {
    find,
    silent,
    /** Follows what a transaction changes. */
    countIncidents: (changes: ReadonlyArray<Change<IncidentRecord>>): void => {
      let opened = 0
      for (const { before, after } of changes) opened += openCount(after) - openCount(before)
      if (opened !== 0) addOpenIncidents.get(opened)
    },
    look: (among: ReadonlyArray<AgentId>, seenBefore: Instant) => ({
      ...find(),
      agents_silent: silent(among, seenBefore, QUIET_KEPT).length,
    }),
    lookAtAll: (aliveSince: Instant) => ({
      ...find(),
      agents_offline: Number(offline.get(aliveSince)?.[0] ?? 0),
    }),
    /** Looks at the agents that come next in the order of their ids: who was last seen by `bound`, and who is dead. */
    step: (after: AgentId | undefined, bound: Instant): Step => {
      const next = lastOfStep.get(after ?? "")?.[0]
      const found = seenInStep.all(after ?? "", next ?? END, bound)
      const seen = (isDead: bigint) =>
        found
          .filter((row) => row[2] === isDead)
          .map(([agent_id, last_seen_at]) => ({ agent_id, last_seen_at }))
      return { quiet: seen(0n), dead: seen(1n), next }
    },
  }
}

const NOTHING: TotalsRow = [0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n]

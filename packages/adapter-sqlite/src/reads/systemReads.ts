import type { AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import {
  byQuiet,
  makePass,
  type Pass,
  QUIET_KEPT,
  type QuietAgent,
  type StaleAgentScanReads,
  type SystemTotals,
} from "@tocsin/core/liveness/StaleAgentScan"
import {
  type StorageError,
  AGED_ITEMS,
  type Backlog,
  BACKLOG_STATES,
  type BacklogState,
  CENSUS_LIMIT,
  type MetricCounts,
  sortBacklog,
} from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { IS_OFFLINE, IS_SILENT } from "../tables/AgentTable.ts"
import { NotificationType, type NotifierName, type Severity } from "@tocsin/contract/Status"
import { SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"

/** How many agents one step of a pass reads: half a millisecond in which no request is answered. */
const STEP = 2_000

/** Sorts after all text. */
const END = new Uint8Array()

/** The only row of `system_total`. Triggers keep it, except for open incidents. */
const FIND_TOTALS = `SELECT agents_accepted, agents_dead, acceptances,
    checks_ok, checks_warning, checks_critical, checks_unknown, incidents_open
  FROM system_total WHERE writer = 0`

/** Runs a read, and waits while another process has locked the file. */
type Read = <A>(use: () => A) => Effect.Effect<A, StorageError>

/** The agents of one step of a pass, and after which agent the next one starts; absent at the end. */
interface Step {
  readonly quiet: ReadonlyArray<QuietAgent>
  /** When a dead one was last seen. */
  readonly deadSeenAt: ReadonlyArray<Instant.Instant>
  readonly next: AgentId | undefined
}

/** Prepares the reads for the summary and the sweep for silent agents. */
export const systemReads = (connection: SqliteConnection, read: Read): StaleAgentScanReads<StorageError> => {
  const totals = connection.query<ReadonlyArray<bigint>>(FIND_TOTALS)
  const among = (condition: string) =>
    `FROM json_each(?1) AS wanted CROSS JOIN agent ON agent_id = wanted.value WHERE ${condition}`
  const silentAmong = connection.query<[AgentId]>(`SELECT agent_id ${among(IS_SILENT)} LIMIT ?3`)
  const offlineAmong = connection.query<[bigint]>(`SELECT count(*) ${among(IS_OFFLINE)}`)
  const offline = connection.query<[bigint]>(
    "SELECT count(*) FROM agent WHERE admission_state = 'accepted' AND last_seen_at <= ?",
  )
  const find = (): SystemTotals => {
    const row = totals.get()
    const at = (index: number) => Number(row?.[index] ?? 0n)
    return {
      agents_accepted: at(0),
      agents_dead: at(1),
      acceptances: at(2),
      checks_ok: at(3),
      checks_warning: at(4),
      checks_critical: at(5),
      checks_unknown: at(6),
      open_incidents: at(7),
    }
  }
  const silent = (agents: ReadonlyArray<AgentId>, seenBefore: Instant.Instant, limit: number) =>
    silentAmong
      .all(JSON.stringify(agents), seenBefore, limit)
      .map(([agentId]) => agentId)
      .toSorted()
  const snapshot = <A>(use: () => A) => read(() => connection.snapshot(use))
  const step = makeStep(connection)
  return {
    acceptances: read(() => find().acceptances),
    pass: (bound) => pass((after, kept) => read(() => step(after, bound, kept)), bound),
    silent: (agents, seenBefore, limit) => read(() => silent(agents, seenBefore, limit)),
    look: (agents, seenBefore) =>
      snapshot(() => ({
        ...find(),
        agents_silent: Number(offlineAmong.get(JSON.stringify(agents), seenBefore)?.[0] ?? 0),
      })),
    evaluateAll: (aliveSince) =>
      snapshot(() => ({ ...find(), agents_offline: Number(offline.get(aliveSince)?.[0] ?? 0) })),
  }
}

/** Reads the next agents in the order of their ids: the dead, and those last seen by `bound` and quiet since `kept`. */
const makeStep = (connection: SqliteConnection) => {
  const lastOfStep = connection.query<[AgentId]>(
    `SELECT agent_id FROM agent WHERE agent_id > ? ORDER BY agent_id LIMIT 1 OFFSET ${STEP - 1}`,
  )
  const quietSince = "max(last_seen_at, coalesce(reachable_from, last_seen_at))"
  const seenInStep = connection.query<
    [agent_id: AgentId, quiet_since: Instant.Instant, last_seen_at: Instant.Instant, isDead: bigint]
  >(
    `SELECT agent_id, ${quietSince}, last_seen_at, heartbeat_incident_id IS NOT NULL FROM agent
    WHERE agent_id > ? AND agent_id <= ? AND admission_state = 'accepted'
      AND (last_seen_at <= ? AND ${quietSince} <= ? OR heartbeat_incident_id IS NOT NULL)`,
  )
  return (after: AgentId | undefined, bound: Instant.Instant, kept: Instant.Instant): Step => {
    const next = lastOfStep.get(after ?? "")?.[0]
    const found = seenInStep.all(after ?? "", next ?? END, bound, kept)
    const quiet = found.filter(([, , , isDead]) => isDead === 0n)
    return {
      quiet: quiet.map(([agent_id, quiet_since]) => ({ agent_id, quiet_since })),
      deadSeenAt: found.flatMap(([, , seenAt, isDead]) => (isDead === 0n ? [] : seenAt)),
      next,
    }
  }
}

/** Runs step by step: between two steps, requests are answered. */
const pass = Effect.fnUntraced(function* (
  step: (after: AgentId | undefined, kept: Instant.Instant) => Effect.Effect<Step, StorageError>,
  bound: Instant.Instant,
): Effect.fn.Return<Pass, StorageError> {
  let quiet: ReadonlyArray<QuietAgent> = []
  let deadSeenAt: Instant.Instant | undefined
  let kept = Instant.LATEST
  let after: AgentId | undefined
  do {
    const { next, ...found } = yield* step(after, kept)
    quiet = [...quiet, ...found.quiet]
    if (quiet.length > 2 * QUIET_KEPT) {
      // One more than is remembered shows that there were more.
      quiet = quiet.toSorted(byQuiet).slice(0, QUIET_KEPT + 1)
      kept = quiet.at(-1)?.quiet_since ?? kept
    }
    for (const seenAt of found.deadSeenAt) deadSeenAt = Instant.max(deadSeenAt ?? seenAt, seenAt)
    after = next
    if (next !== undefined) yield* Effect.yieldNow
  } while (after !== undefined)
  return makePass(quiet, { bound, deadSeenAt })
})

const COUNT_UP_TO = `LIMIT ${CENSUS_LIMIT}`

/** The items of a state, in the index that finds them. Held items are pending too, and are left out. */
const itemsOf = (state: BacklogState): string =>
  `outbox INDEXED BY outbox_by_created_at WHERE listed_state = '${state}'`

/** Prepares the count of each notifier's items in a state. */
const makeBacklog = (connection: SqliteConnection, state: BacklogState) => {
  const items = itemsOf(state)
  const next = connection.query<[NotifierName]>(
    `SELECT notifier FROM ${items} AND notifier > ? ORDER BY notifier LIMIT 1`,
  )
  const count = connection.query<[bigint]>(
    `SELECT count(*) FROM (SELECT 1 FROM ${items} AND notifier = ? ${COUNT_UP_TO})`,
  )
  const oldest = connection.query<[Instant.Instant | null]>(
    `SELECT min(age_starts_at) FROM (
      SELECT age_starts_at FROM ${items} AND notifier = ? AND event_type = ? ORDER BY created_at LIMIT ${AGED_ITEMS})`,
  )
  return (): ReadonlyArray<Backlog> => {
    const backlog: Array<Backlog> = []
    // Names are not empty, so all sort after this.
    for (let row = next.get(""); row !== undefined; row = next.get(row[0])) {
      const [notifier] = row
      const [waiting_since] = NotificationType.literals
        .flatMap((type) => oldest.get(notifier, type)?.[0] ?? [])
        .toSorted((a, b) => (a < b ? -1 : 1))
      const found = Number(count.get(notifier)?.[0] ?? 0)
      if (waiting_since !== undefined) backlog.push({ notifier, state, items: found, waiting_since })
    }
    return backlog
  }
}

/** Prepares the counts for metrics. Each statement reads a bounded part of an index. */
export const makeMetricCounts = (connection: SqliteConnection) => {
  const agents = connection.query<[pending: bigint, dead: bigint, blocked: bigint]>(
    `SELECT agents_pending, agents_dead, (SELECT count(*) FROM (SELECT 1 FROM agent_key INDEXED BY agent_key_blocked WHERE state = 'blocked' ${COUNT_UP_TO}))
    FROM system_total WHERE writer = 0`,
  )
  const open = connection.query<[bigint]>(
    `SELECT count(*) FROM (SELECT 1 FROM incident INDEXED BY incident_by_opened_at
      WHERE phase IN (1, 2) AND severity_rank = ? ${COUNT_UP_TO})`,
  )
  const backlogs = BACKLOG_STATES.map((state) => makeBacklog(connection, state))
  return (): MetricCounts => {
    const [pending, dead, blocked] = agents.get() ?? [0n, 0n, 0n]
    const openOf = (severity: Severity) => Number(open.get(SEVERITY_RANK[severity])?.[0] ?? 0)
    return {
      agents_pending: Number(pending),
      agents_dead: Number(dead),
      keys_blocked: Number(blocked),
      incidents: {
        warning: openOf("warning"),
        critical: openOf("critical"),
        unknown: openOf("unknown"),
      },
      backlog: sortBacklog(backlogs.flatMap((backlogOf) => backlogOf())),
    }
  }
}

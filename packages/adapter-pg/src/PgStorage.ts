import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import { LAST_VERSION } from "@tocsin/core/heart/model/PolicyVersionRecord"
import { CurrentInstruments, type MetricSource } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { gauge, several } from "@tocsin/core/kernel/engine/metrics/Counters"
import { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { transactBy } from "@tocsin/core/kernel/ports/Submit"
import { orderColumns } from "@tocsin/core/lists/ListDefinitions"
import { Duration, Effect, Layer } from "effect"
import type { SqlConnection } from "effect/sql"
import { randomUUID } from "node:crypto"
import { connect, type Database, indexSettings, readRows, retryTransient } from "./Database.ts"
import { LONG_WORK, type PgHost, type PgPoolOptions } from "./client/PgPoolOptions.ts"
import { GROUP_CONNECTIONS, GroupCommit } from "./groups/GroupCommit.ts"
import { Announcer, TopicAnnouncer, remoteWakeups } from "./hints/remoteWakeups.ts"
import { readPage } from "./lists/pageStatement.ts"
import { migrate } from "./migrations/migrate.ts"
import * as checkReads from "./tables/CheckTable.ts"
import { readIncidentTimeline } from "./tables/IncidentTable.ts"
import { readingSettledHistory, settledIncidents } from "./reads/settledRows.ts"
import { readCounts, readMetricCounts } from "./reads/systemCounts.ts"
import { untilNextDue } from "./tables/OutboxTable.ts"
import { pgNumbers } from "./numbers/pgNumbers.ts"
import { expire } from "./retention/expire.ts"
import { findAgents, findAgentsWithPendingKey, findSilentAgents } from "./tables/AgentTable.ts"
import type { Reading } from "./tables/makeTable.ts"
import { findOperatorOfToken, findPolicyVersions, keyedTables } from "./tables/keyedTables.ts"
import { toStorageError } from "./toStorageError.ts"

/** The most connections of each pool of a process (docs/scaling.md#connections-and-poolers). */
export const POOLS = {
  /** Reads and separate transactions. */
  commands: 10,
  /** All others may wait for a lock. */
  probe: 1,
  /** Listens to other processes. */
  listener: 1,
  clock: 1,
} as const

/** The most connections that a process opens with the default options. */
export const PROCESS_CONNECTIONS =
  GROUP_CONNECTIONS + Object.values(POOLS).reduce((sum, connections) => sum + connections, 0)

export const poolMetricDefinitions = {
  connections: gauge("tocsin_postgres_connections", "Connections to PostgreSQL by pool and use", [
    "pool",
    "state",
  ]),
  connectionsWaiting: gauge(
    "tocsin_postgres_connections_waiting",
    "Callers waiting for a connection, by pool",
    ["pool"],
  ),
}

const poolMetrics = (pools: Readonly<Record<string, Database>>): MetricSource =>
  Effect.gen(function* () {
    const known = yield* Effect.forEach(Object.entries(pools), ([name, { pg }]) =>
      Effect.map(pg.poolStatus, (status) => ({ name, ...status })),
    )
    return [
      several(
        poolMetricDefinitions.connections,
        known.flatMap(({ name, total, idle }) => [
          [[name, "in_use"], total - idle] as const,
          [[name, "idle"], idle] as const,
        ]),
      ),
      several(
        poolMetricDefinitions.connectionsWaiting,
        known.map(({ name, waiting }) => [[name], waiting] as const),
      ),
    ]
  })

const establish = `INSERT INTO established AS kept (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = kept.value RETURNING value`

/** For single statements, which are transactions too; `indexedTransaction` is for several. */
const isolation = { default_transaction_isolation: "read committed" }

/** About as long as callers wait. Compilation takes longer than reading a page of any list. */
const defaults = {
  statementTimeout: Duration.seconds(10),
  idleInTransactionTimeout: Duration.seconds(10),
  settings: { ...isolation, jit: "off" },
}

/** The probe has its own connection, since all others may wait for a lock, and short limits. */
const probeOptions = {
  maxConnections: POOLS.probe,
  connectTimeout: Duration.seconds(1),
  replyTimeout: Duration.millis(500),
  statementTimeout: Duration.seconds(1),
}

/** If a lock is not free in time, the group fails and each member waits for its own locks. */
const groupOptions = {
  lockTimeout: Duration.seconds(1),
  settings: { ...isolation, ...indexSettings },
}

/** How to reach PostgreSQL, and how to commit. */
export interface PgStorageOptions extends PgPoolOptions {
  /**
   * About how much memory agents and checks may take that are kept there. Decisions on them take one
   * verifying statement instead of a transaction. 0 for none; 32 MiB by default.
   */
  readonly cacheBytes?: number
}

/** Asks whether the server accepts writes. No lock delays it. */
const probe = "SELECT current_setting('transaction_read_only')::boolean AS is_read_only"

/** Writes nothing. On a read-only server it fails, and its connection is closed. */
const writeNothing = "UPDATE service_heartbeat SET name = name WHERE false"

/** A statement of a group waits for locks for a second. After this time the server does not write. */
const LONGEST_GROUP_WAIT_MILLIS = 2_000

const groupsWait = new StorageError({
  reason: "unavailable",
  message:
    "PostgreSQL has completed no write for several seconds: check that it and its synchronous standbys are running and reachable",
})

const probeOf = (prober: Database, groups: Database): Effect.Effect<void, StorageError> =>
  Effect.gen(function* () {
    const { idle, isRefused, waitedMillis } = yield* groups.pg.poolStatus
    if (waitedMillis > LONGEST_GROUP_WAIT_MILLIS) return yield* groupsWait
    const [row] = yield* prober.pg.query(probe, [])
    if (row?.["is_read_only"] === true) yield* prober.pg.query(writeNothing, [])
    // The groups' host may be down while the prober's answers, and idle connections do not show it.
    // PostgreSQL may also refuse the groups alone, as beyond a limit of the role.
    if (idle > 0 || isRefused) yield* groups.pg.sound
  }).pipe(Effect.mapError(toStorageError))

/**
 * Storage on PostgreSQL 15 or later, for any number of processes. When it is built, it migrates the
 * database; it fails if the database is unreachable, or newer than this code. Later it recovers
 * from any loss of the database without a restart. Statements take 10 seconds at most by default.
 */
export const layer = ({
  cacheBytes = 33_554_432,
  ...options
}: PgStorageOptions): Layer.Layer<Storage, StorageError> =>
  Layer.effect(
    Storage,
    Effect.gen(function* () {
      const host: PgHost = { silentSince: -Infinity }
      const database = yield* connect({ maxConnections: POOLS.commands, ...defaults, ...options, host })
      const prober = yield* connect({ ...options, ...probeOptions, host })
      const groupDatabase = yield* connect({
        ...defaults,
        ...options,
        ...groupOptions,
        host,
        maxConnections: GROUP_CONNECTIONS,
      })
      // On a separate connection without the usual limits.
      yield* Effect.scoped(
        Effect.flatMap(connect({ ...options, maxConnections: 1, replyTimeout: LONG_WORK }), ({ sql }) =>
          migrate(sql),
        ),
      )
      const listener = yield* connect({ ...defaults, ...options, maxConnections: POOLS.listener, host })
      const instruments = yield* CurrentInstruments
      yield* instruments.addSource(
        poolMetrics({ commands: database, groups: groupDatabase, probe: prober, hints: listener }),
      )
      const sender = randomUUID()
      const announcer = new Announcer(sender)
      // Before the groups, so that it closes after them and announces what they still commit.
      const topics = yield* TopicAnnouncer.start(database.pg, sender)
      const groups = yield* GroupCommit.start({
        database: { ...database, announcer },
        groupDatabase: { ...groupDatabase, announcer },
        cacheBytes,
        instruments,
        topics,
      })
      const others = yield* remoteWakeups(listener.pg, sender)
      return Storage.of({ ...others, ...make(groups, { database, prober, groupDatabase }) })
    }),
  )

// The column contains only AgentIds.
const agentIds = (text: string) => ({ text, decode: (row: SqlConnection.Row) => row["agent_id"] as AgentId })

const make = (
  groups: GroupCommit,
  pools: Readonly<Record<"database" | "prober" | "groupDatabase", Database>>,
): Omit<Storage["Service"], "hints" | "remoteChanges"> => {
  const { database, groupDatabase, prober } = pools
  const { pg, sql } = database
  const findAll = <A>(reading: Reading<A>, parameters: ReadonlyArray<unknown>) =>
    retryTransient(readRows(sql, reading, parameters))
  const findOne = <A>(...finding: Parameters<typeof findAll<A>>) =>
    Effect.map(findAll(...finding), ([row]) => row)
  const { replica, service_heartbeat: heartbeat } = keyedTables
  const settledHistory = readingSettledHistory(pg)
  return {
    transact: transactBy(groups.submit),
    orderOf: orderColumns,
    page: (request) => retryTransient(readPage(sql, request)),
    agent: (agentId) => findOne(findAgents, [[agentId]]),
    settledHistory: (...asked) => retryTransient(settledHistory(...asked)),
    settledIncidents: retryTransient(settledIncidents(pg)),
    counts: (...asked) => retryTransient(readCounts(sql, ...asked)),
    metricCounts: retryTransient(readMetricCounts(sql)),
    staleAgents: (seenBefore, limit, twiceBefore) =>
      findAll(agentIds(findSilentAgents), [seenBefore, limit, twiceBefore ?? null]),
    // Every id comes after the empty text.
    agentsWithPendingKey: (after, limit) => findAll(agentIds(findAgentsWithPendingKey), [after ?? "", limit]),
    dueRows: (name, request) => retryTransient(checkReads.readDueRows(groupDatabase.pg, name, request)),
    rows: (name, keys) => retryTransient(checkReads.readRows(pg, name, keys)),
    checks: (checks) => retryTransient(checkReads.readChecks(pg, checks)),
    lastResults: (members) => retryTransient(checkReads.readLastResults(pg, members)),
    expire: (piece) => retryTransient(expire(database, piece)),
    untilNextDue: (receivers, now) => retryTransient(untilNextDue(groupDatabase.pg, receivers, now)),
    check: (agentId, checkId) => findOne(checkReads.findCheck, [agentId, checkId]),
    incident: (id, limits) => retryTransient(readIncidentTimeline(sql, id, limits)),
    operatorOfToken: (hash) => findOne(findOperatorOfToken, [hash]),
    replicas: findAll(replica.findGroups, []),
    policyVersions: (after, limit, upTo = LAST_VERSION) => findAll(findPolicyVersions, [after, upTo, limit]),
    serviceHeartbeat: findOne(heartbeat.find, heartbeat.find.parameters(["service"])),
    establish: (name, value) =>
      retryTransient(
        // The statement returns one row with this column, always.
        Effect.map(pg.query(establish, [name, value]), ([row]) => row?.["value"] as string),
      ),
    probe: probeOf(prober, groupDatabase),
    numbers: pgNumbers(database),
  }
}

import { randomUUID } from "node:crypto"
import type { AgentId } from "@tocsin/contract/Identifiers"
import { makeStaleAgentScans } from "@tocsin/core/liveness/StaleAgentScan"
import { CurrentInstruments, type MetricSource } from "@tocsin/core/engine/metrics/Instruments"
import { Storage, StorageError } from "@tocsin/core/ports/Storage"
import { Duration, Effect, Layer } from "effect"
import type { SqlConnection } from "effect/sql"
import { LONG_WORK, type PgHost, type PgPoolOptions } from "./client/PgPoolOptions.ts"
import { connect, type Database, read } from "./Database.ts"
import { GroupCommit } from "./groups/GroupCommit.ts"
import { Announcer, TopicAnnouncer } from "./hints/Announcer.ts"
import { remoteWakeups } from "./hints/remoteWakeups.ts"
import { expire } from "./retention/expire.ts"
import { readPage } from "./lists/readPage.ts"
import { migrate } from "./migrations/migrate.ts"
import { groupConnections, LANES, POOLS } from "./processConnections.ts"
import { readMetricCounts, systemReads } from "./reads/systemReads.ts"
import { readChecks, readDueExpectations, readExpectations } from "./reads/readExpectations.ts"
import { readIncidentTimeline } from "./reads/readIncidentTimeline.ts"
import { untilNextDue } from "./reads/untilNextDue.ts"
import { agentTable, findAgent, findAgentsWithPendingKey } from "./tables/AgentTable.ts"
import { checkTable, findCheck } from "./tables/CheckTable.ts"
import {
  findOperatorOfToken,
  operatorTable,
  keyedTables,
  findPolicyVersions,
  policyVersionTable,
} from "./tables/keyedTables.ts"
import { toStorageError } from "./toStorageError.ts"
import { indexSettings } from "./transactions/indexedTransaction.ts"
import { retryTransient } from "./transactions/retryTransient.ts"
import { gauge, several } from "@tocsin/core/engine/metrics/Counters"

/** Metrics that only PostgreSQL reports. */
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

/** Counts the connections of pools, by the pools' names. */
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

/** Stores a value unless one is stored, and returns the stored one. */
const establish = `INSERT INTO established AS kept (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = kept.value RETURNING value`

/** For single statements, which are transactions too; `indexedTransaction` is for several. */
const isolation = { default_transaction_isolation: "read committed" }

/**
 * About as long as callers wait: a statement that takes longer only holds locks. No compilation,
 * since that takes longer than reading a page of any list.
 */
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

/**
 * Group commit has its own connections. If a lock is not free in time, the group fails and each
 * member waits for its own locks.
 */
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
  /** How many groups run at a time on locked rows of agents: 2 by default. */
  readonly lanes?: number
}

/** Asks whether the server accepts writes. No lock delays it. */
const probe = "SELECT current_setting('transaction_read_only')::boolean AS is_read_only"

/** Writes nothing. On a read-only server it fails, and its connection is closed. */
const writeNothing = "UPDATE service_heartbeat SET name = name WHERE false"

/**
 * A statement of a group waits for locks for a second at most. If it waits longer, the server is
 * unreachable or does not write.
 */
const LONGEST_GROUP_WAIT_MILLIS = 2_000

const groupsWait = new StorageError({
  reason: "unavailable",
  message: "PostgreSQL has completed no write for several seconds: check that it is running and reachable",
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
  lanes = LANES,
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
        maxConnections: groupConnections(lanes),
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
      // Names this process in its announcements.
      const sender = randomUUID()
      const announcer = new Announcer(sender)
      // Before the groups, so that it closes after them and announces what they still commit.
      const topics = yield* TopicAnnouncer.start(database.pg, sender)
      const groups = yield* GroupCommit.start({
        database: { ...database, announcer },
        groupDatabase: { ...groupDatabase, announcer },
        lanes,
        cacheBytes,
        instruments,
        topics,
      })
      const others = yield* remoteWakeups(listener.pg, sender)
      return make({ groups, database, prober, groupDatabase, others })
    }),
  )

interface Connected {
  readonly groups: GroupCommit
  readonly database: Database
  readonly prober: Database
  /** Its plans use indexes. */
  readonly groupDatabase: Database
  readonly others: Pick<Storage["Service"], "hints" | "remoteChanges">
}

const make = (connected: Connected): Storage["Service"] => {
  const { database, groupDatabase, groups, others, prober } = connected
  const { pg, sql } = database
  const findOne = <A>(
    statement: string,
    parameters: ReadonlyArray<unknown>,
    decode: (row: SqlConnection.Row) => A,
  ): Effect.Effect<A | undefined, StorageError> =>
    retryTransient(Effect.map(read(sql, statement, parameters), (rows) => rows.map(decode)[0]))
  const staleAgentScans = makeStaleAgentScans(systemReads(sql))
  const { replica, service_heartbeat: heartbeat } = keyedTables
  return Storage.of({
    transact: (command) => groups.transact(staleAgentScans.watch(command)),
    page: (request) => retryTransient(readPage(sql, request)),
    agent: (agentId) => findOne(findAgent, [agentId], agentTable.decode),
    counts: (aliveSince) => retryTransient(staleAgentScans.counts(aliveSince)),
    metricCounts: retryTransient(readMetricCounts(sql)),
    staleAgents: (seenBefore, limit) => retryTransient(staleAgentScans.staleAgents(seenBefore, limit)),
    agentsWithPendingKey: (after, limit) =>
      retryTransient(
        // Every id comes after the empty text. The column contains only AgentIds.
        Effect.map(read(sql, findAgentsWithPendingKey, [after ?? "", limit]), (rows) =>
          rows.map((row) => row["agent_id"] as AgentId),
        ),
      ),
    dueExpectations: (request) => retryTransient(readDueExpectations(groupDatabase.pg, request)),
    expectations: (checks) => retryTransient(readExpectations(pg, checks)),
    checks: (checks) => retryTransient(readChecks(pg, checks)),
    expire: (piece) => retryTransient(expire(database, piece)),
    untilNextDue: (receivers, now) => retryTransient(untilNextDue(groupDatabase.pg, receivers, now)),
    ...others,
    check: (agentId, checkId) => findOne(findCheck, [agentId, checkId], checkTable.decode),
    incident: (id, limits) => retryTransient(readIncidentTimeline(sql, id, limits)),
    operatorOfToken: (hash) => findOne(findOperatorOfToken, [hash], operatorTable.decode),
    replicas: retryTransient(
      Effect.map(read(sql, replica.findGroups.text, []), (rows) => rows.map(replica.decode)),
    ),
    policyVersions: (after, limit) =>
      retryTransient(
        Effect.map(read(sql, findPolicyVersions, [after, limit]), (rows) =>
          rows.map(policyVersionTable.decode),
        ),
      ),
    serviceHeartbeat: findOne(heartbeat.find.text, heartbeat.find.parameters(["service"]), heartbeat.decode),
    establish: (name, value) =>
      retryTransient(
        // The statement returns one row with this column, always.
        Effect.map(pg.query(establish, [name, value]), ([row]) => row?.["value"] as string),
      ),
    probe: probeOf(prober, groupDatabase),
  })
}

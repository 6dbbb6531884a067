import { fdatasync } from "node:fs"
import * as Instant from "@tocsin/contract/formats/Instant"
import { LAST_VERSION } from "@tocsin/core/heart/model/PolicyVersionRecord"
import { CommitMeter, CurrentInstruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { decideSync, isLone } from "@tocsin/core/kernel/unitOfWork/Decision"
import { answer } from "@tocsin/core/kernel/unitOfWork/RowSource"
import { Storage, type StorageError } from "@tocsin/core/kernel/ports/Storage"
import { transactBy } from "@tocsin/core/kernel/ports/Submit"
import { orderColumns } from "@tocsin/core/lists/ListDefinitions"
import { Array, Duration, Effect, Layer, Stream } from "effect"
import { GroupCommit } from "./transactions/GroupCommit.ts"
import { GroupTime } from "./transactions/GroupTime.ts"
import { makePageReads } from "./lists/pageReads.ts"
import { openDatabase } from "./connection/openDatabase.ts"
import { RowCache, rowSource } from "./cache/RowCache.ts"
import { makeMetricCounts, makeCounts } from "./reads/systemCounts.ts"
import { makeStaleAgents } from "./reads/staleAgents.ts"
import { fileMetrics, makeSyncDurations, timedSync } from "./fileMetrics.ts"
import { sqliteNumbers } from "./numbers/sqliteNumbers.ts"
import { makeExpiry } from "./retention/expire.ts"
import { makeTables, type Tables } from "./tables/makeTables.ts"
import { type LogOptions, WriteAheadLog } from "./log/WriteAheadLog.ts"
import type { SqliteConnection } from "./connection/SqliteConnection.ts"
import { realFile } from "./connection/OpenFiles.ts"
import {
  isLocked,
  type LockOptions,
  type Read,
  SqliteFailures,
  whileLocked,
} from "./connection/SqliteFailures.ts"
import { idlePause } from "@tocsin/core/kernel/ports/IdlePause"
import { ALL_TOPICS, type Topics } from "@tocsin/core/kernel/topics/Topics"
import type { SettledHistory, SettledReads } from "@tocsin/core/kernel/ports/SettledReads"

/** An index has the rows that retention removes by their time; those that it keeps are few. */
const within = (isKept: 0 | 1): string => `SELECT min(seq + 0) AS first, max(seq + 0) AS last FROM check_event
  WHERE is_kept = ${isKept} AND received_at >= ?1 AND received_at < ?2 AND seq > ?3`

/** Finds the history rows of a span. Their numbers are those of the order in which transactions ended. */
const makeSettledHistory = (connection: SqliteConnection) => {
  const newest = connection.query<[seq: bigint | null]>("SELECT max(seq) FROM check_event")
  const bounds = connection.query<[first: bigint | null, last: bigint | null]>(
    `SELECT min(first), max(last) FROM (${within(0)} UNION ALL ${within(1)})`,
  )
  return (...[{ from, to }, after = 0]: Parameters<SettledReads["settledHistory"]>): SettledHistory => {
    const [settled] = newest.get() ?? []
    const [first, last] = bounds.get(from, to, after) ?? []
    return {
      first: Number(first ?? 0),
      last: Number(last ?? 0),
      settled: Math.max(after, Number(settled ?? 0)),
    }
  }
}

/** With the second between two events of a stream, a change is visible within 2 s. */
const POLL_EVERY = Duration.millis(500)

/** All topics after each commit of another process: the file does not say what it changed. */
const remoteChanges = (connection: SqliteConnection): Stream.Stream<Topics> =>
  Stream.unwrap(
    Effect.sync(() => {
      // A file that cannot be read for a moment may have changed meanwhile.
      const version = Effect.orElseSucceed(
        Effect.try(() => connection.dataVersion()),
        () => undefined,
      )
      let seen: bigint | undefined
      const look = Effect.map(version, (now) => {
        const hasChanged = seen !== undefined && now !== undefined && now !== seen
        seen = now ?? seen
        return hasChanged
      })
      return Stream.fromEffectRepeat(Effect.andThen(idlePause(POLL_EVERY), look)).pipe(
        Stream.filter((hasChanged) => hasChanged),
        Stream.map(() => ALL_TOPICS),
      )
    }),
  )

export interface SqliteStorageOptions {
  /** The database file; its folder exists. `:memory:` keeps nothing, for tests. */
  readonly file: string
  /** How long another process's lock on the file is waited for; 10 s unless given. */
  readonly lockTimeout?: Duration.Input | undefined
  /** How much memory rows may take that are remembered from one transaction to the next; 32 MiB unless given, 0 for none. */
  readonly cacheBytes?: number | undefined
  readonly log?: LogOptions | undefined
}

const CACHE_BYTES = 33_554_432
const LOCK_TIMEOUT = Duration.seconds(10)
const NANOS_PER_MICRO = 1_000n

/**
 * Storage in one SQLite file, durable at every answer to a command; what reads find may be some milliseconds from being so
 * (docs/decisions/0006). Several processes may have one file open. Creates the file where
 * there is none and brings it to the present schema; fails without having written anything for what it must not open. The
 * end of its scope finishes the commands that are under way, and closes the file.
 */
export const layer = (options: SqliteStorageOptions): Layer.Layer<Storage, StorageError> =>
  Layer.effect(
    Storage,
    Effect.gen(function* () {
      const file = yield* realFile(options.file)
      const lock: LockOptions = {
        failures: new SqliteFailures(file),
        lockMillis: Duration.toMillis(options.lockTimeout ?? LOCK_TIMEOUT),
      }
      const connection = yield* Effect.acquireRelease(openDatabase(file, lock), (opened) =>
        Effect.sync(() => opened.close()),
      )
      const instruments = yield* CurrentInstruments
      const syncs = makeSyncDurations()
      const logOptions = { ...options.log, sync: timedSync(options.log?.sync ?? fdatasync, syncs.of()) }
      const log = yield* Effect.acquireRelease(
        whileLocked(() => new WriteAheadLog(connection, lock.failures, logOptions), lock),
        (opened) => opened.close,
      )
      const tables = yield* whileLocked(() => makeTables(connection), lock)
      const rows = new RowCache(tables, { bytes: options.cacheBytes ?? CACHE_BYTES })
      const time = new GroupTime()
      const commits = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new GroupCommit(connection, {
              ...lock,
              log,
              rows,
              time,
              meter: new CommitMeter(instruments, { storage: "sqlite", path: "group" }),
            }),
        ),
        (opened) => opened.close,
      )
      yield* instruments.addSource(fileMetrics({ file, log, cache: rows, syncs }))
      return make({ connection, log, rows, commits, time, lock })
    }),
  )

interface Parts {
  readonly connection: SqliteConnection
  readonly log: WriteAheadLog
  readonly rows: RowCache
  readonly commits: GroupCommit
  readonly time: GroupTime
  readonly lock: LockOptions
}

/** How long reads may hold the event loop in one turn: later ones wait for the next turn, and results pass. */
const TURN_MILLIS = 5

const nextTurn: Effect.Effect<void> = Effect.callback((resume) => {
  const next = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(next))
})

const takingTurns = () => {
  let endsAt: number | undefined
  const inTurn = <A>(read: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> =>
    Effect.suspend(() => {
      const now = performance.now()
      if (endsAt === undefined) setImmediate(() => (endsAt = undefined))
      endsAt ??= now + TURN_MILLIS
      return now < endsAt ? read : Effect.andThen(nextTurn, inTurn(read))
    })
  return inTurn
}

/** Reads of lists: groups are short meanwhile. */
const noting =
  (time: GroupTime, read: Read): Read =>
  (use) =>
    Effect.suspend(() => {
      time.notePage(performance.now())
      return read(use)
    })

/** Keys whose rows are read at once: some milliseconds. */
const KEYS_TOGETHER = 250

/** Reads the rows of keys, of which there may be 40,000, in pieces. */
const eachKey =
  (read: Read) =>
  <Key, Row>(keys: ReadonlyArray<Key>, find: (key: Key) => Row | undefined) =>
    Effect.map(
      Effect.forEach(Array.chunksOf(keys, KEYS_TOGETHER), (piece) =>
        read(() => piece.map(find).filter((row) => row !== undefined)),
      ),
      Array.flatten,
    )

const make = ({ connection, log, rows, commits, time, lock }: Parts): Storage["Service"] => {
  const { tables } = rows
  const source = rowSource(rows)
  const inTurn = takingTurns()
  const read: Read = (use) => inTurn(whileLocked(use, lock))
  const each = eachKey(read)
  const counts = makeCounts(connection)
  const metricCounts = makeMetricCounts(connection)
  const settledHistory = makeSettledHistory(connection)
  const expire = makeExpiry(connection)
  return Storage.of({
    transact: transactBy((command, clock, resume) =>
      commits.submit(
        (unit) => {
          // The moment of the decision, not of the call: a command may have waited for another process.
          const now = Instant.fromMicros(clock.currentTimeNanosUnsafe() / NANOS_PER_MICRO)
          return decideSync(command(unit, now), (step) => answer(source, unit, now, step))
        },
        isLone(command),
        resume,
      ),
    ),
    orderOf: orderColumns,
    page: makePageReads(connection, noting(time, read)),
    agent: (agentId) => read(() => tables.agents.find(agentId)),
    check: (agentId, checkId) => read(() => tables.checks.ofAgent(agentId, checkId)),
    incident: (id, limits) =>
      read(() =>
        connection.snapshot(() => {
          const incident = tables.incidents.find(id)
          if (incident === undefined) return undefined
          const members = tables.incident_member.ranked(id, limits.members)
          return {
            incident,
            members,
            labels: members.map(tables.check_label.labelsOf),
            changes: tables.incidentChanges.latest(id, limits.changes),
            log: tables.incidentLog.latest(id, limits.log),
            outbox: tables.outbox.latest(id, limits.outbox),
          }
        }),
      ),
    operatorOfToken: (hash) => read(() => tables.operator.ofToken(hash)),
    replicas: read(() => tables.keyed.replica.ofGroup("all")),
    policyVersions: (after, limit, upTo = LAST_VERSION) =>
      read(() => tables.policy_version.newest(after, upTo, limit)),
    serviceHeartbeat: read(() => tables.keyed.service_heartbeat.find("service")),
    settledHistory: (...asked) => read(() => connection.snapshot(() => settledHistory(...asked))),
    // Writers follow one another, each with the moment at which it has the file.
    settledIncidents: Effect.undefined,
    counts: (...asked) => read(() => connection.snapshot(() => counts(...asked))),
    metricCounts: read(() => connection.snapshot(metricCounts)),
    staleAgents: makeStaleAgents(connection, read),
    dueRows: (name, request) => read(() => tables.dueRows[name](request)),
    rows: (name, keys) => each(keys, (key) => tables.keyed[name].find(key)),
    checks: (checks) => each(checks, (ref) => tables.checks.find(ref)),
    lastResults: (members) => each(members, (member) => tables.lastResult(member)),
    agentsWithPendingKey: (after, limit) => read(() => tables.agents.withPendingKey(after, limit)),
    untilNextDue: (receivers, now) => read(() => untilNextDue(tables, receivers, now)),
    // One server works on a file. Its next look at what is due finds what a command left.
    hints: Stream.never,
    remoteChanges: remoteChanges(connection),
    expire: (piece) => commits.submitAlone(() => expire(piece)),
    establish: (name, value) =>
      commits.submitAlone(() => {
        const kept = tables.established.find(name)
        if (kept === undefined) tables.established.insert([{ name, value }])
        return kept?.value ?? value
      }),
    probe: Effect.suspend(() => probe(connection, log, lock)),
    numbers: sqliteNumbers(connection, { read, write: (use) => commits.submitAlone(use) }),
  })
}

const probe = (connection: SqliteConnection, log: WriteAheadLog, { failures }: LockOptions) => {
  if (log.refusal !== undefined) return log.refusal
  try {
    return Effect.succeed(connection.probe())
  } catch (cause) {
    return isLocked(cause) ? Effect.void : failures.toEffect(cause)
  }
}

const untilNextDue = (
  { alert, outbox }: Tables,
  ...[receivers, now]: Parameters<Storage["Service"]["untilNextDue"]>
): Duration.Duration | undefined => {
  const moments = [...outbox.nextMoments(receivers, now), ...alert.nextMoments(receivers, now)]
  const next = moments.toSorted((a, b) => (a < b ? -1 : 1))[0]
  return next === undefined ? undefined : Duration.nanos((next - now) * NANOS_PER_MICRO)
}

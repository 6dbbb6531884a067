import type * as Session from "@effect/sql-pg/PgConnection"
import * as Pools from "@effect/sql-pg/PgPool"
import { LinkedQueue } from "@tocsin/core/kernel/engine/LinkedQueue"
import { Duration, Effect, Exit, Redacted, Scope } from "effect"
import type { SqlError } from "effect/sql"
import { inRealTime, pause } from "../RealTime.ts"
import { readDatabaseUrl } from "./databaseUrl.ts"
import { type PgHost, type PgPoolOptions, setUpStatement } from "./PgPoolOptions.ts"
import { PgConnection, type PgLease, type AwaitedAnswer } from "./PgConnection.ts"
import { orElse, Primary, standbyFailure } from "./Primary.ts"
import { NO_TLS, NOT_LET_IN, noPassword, refusalOf, sqlError, WRONG_PASSWORD } from "./toSqlError.ts"
import { makeTypes } from "./upstreamDefects.ts"

const defaults = {
  maxConnections: 10,
  connectTimeout: Duration.seconds(5),
  replyTimeout: Duration.seconds(11),
  applicationName: "tocsin",
}

const IDLE_TIMEOUT = Duration.seconds(30)

/** After this silence the system probes a connection, once a second, and closes it after ten failures. */
const KEEP_ALIVE = Duration.seconds(2)

/** A connection that answered this recently is not lost with the others of its host. */
const HEARD_LATELY_MILLIS = 500

/** Each keeps a plan of some tens of kB, so a connection needs a few MB for all. */
const PREPARED_STATEMENTS = 200

export interface PgPoolStatus {
  readonly total: number
  readonly idle: number
  readonly waiting: number
  /** How long the oldest statement has waited for its answer; 0 if none waits. */
  readonly waitedMillis: number
  /** Whether the last attempt to open a connection failed, and none was lent since. */
  readonly isRefused: boolean
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** An open connection: when it answered last, and whether it has its settings. */
interface Known {
  reportedAt: number
  isSetUp: boolean
}

/** How many connections of a pool are open, and when the last one was begun, by `performance.now`. */
interface Opened {
  count: number
  lastAt: number
}

/** Counts the connection that lives in the current scope. */
const countIn = (open: Opened): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() => {
        open.count++
        open.lastAt = performance.now()
      }),
      () =>
        Effect.sync(() => {
          open.count--
        }),
    ),
  )

/**
 * The connections to one database. It adds to the driver's pool what that cannot do: count
 * connections, limit the wait for one, apply settings to a new one, and close those whose server
 * has fallen silent. Its timers run in real time, since they bound the network, not a rule of the
 * service.
 */
export class PgPool {
  readonly #primary: Primary
  readonly #known = new WeakMap<Session.PgConnection, Known>()
  readonly #leases = new LinkedQueue<PgLease>()
  /** In the order in which their statements were sent. */
  readonly #awaited = new LinkedQueue<AwaitedAnswer>()
  readonly #connectTimeout: Duration.Duration
  readonly #replyMillis: number
  readonly #maxConnections: number
  readonly #setUp: string
  readonly #host: PgHost
  readonly #open: Readonly<Opened>
  #waiting = 0
  #isRefused = false
  #onAllReturned: (() => void) | undefined

  private constructor(primary: Primary, open: Readonly<Opened>, options: PgPoolOptions) {
    this.#primary = primary
    this.#open = open
    this.#host = options.host ?? { silentSince: -Infinity }
    this.#connectTimeout = Duration.fromInputUnsafe(options.connectTimeout ?? defaults.connectTimeout)
    this.#replyMillis = Duration.toMillis(options.replyTimeout ?? defaults.replyTimeout)
    this.#maxConnections = options.maxConnections ?? defaults.maxConnections
    this.#setUp = setUpStatement(options)
  }

  /** Closes with the scope, after `replyTimeout` for connections in use. Connects on first use. */
  static readonly make = Effect.fnUntraced(function* (
    options: PgPoolOptions,
  ): Effect.fn.Return<PgPool, SqlError.SqlError, Scope.Scope> {
    const { password, prepared, servers: named } = yield* readDatabaseUrl(options.url)
    const open = { count: 0, lastAt: -Infinity }
    const config = {
      applicationName: options.applicationName ?? defaults.applicationName,
      connectTimeout: options.connectTimeout ?? defaults.connectTimeout,
      keepAlive: KEEP_ALIVE,
      idleTimeout: IDLE_TIMEOUT,
      maxConnections: options.maxConnections ?? defaults.maxConnections,
      preparedStatementCacheSize: PREPARED_STATEMENTS,
      types: makeTypes(),
    }
    const sessionsAs = (used: Redacted.Redacted, server: Partial<Pools.Config>) =>
      // The driver runs this for each connection, in the connection's scope, which its type does
      // not say.
      inRealTime(
        Pools.make({
          ...config,
          ...server,
          password: Effect.as(countIn(open), used) as Effect.Effect<Redacted.Redacted>,
        }),
      )
    // A server that asks for a password gets an empty one, and calls it wrong.
    const sayNoPassword = (error: SqlError.SqlError) =>
      refusalOf(error) === WRONG_PASSWORD ? noPassword : error
    const sessions = (server: Partial<Pools.Config>) =>
      prepared === undefined
        ? Effect.map(sessionsAs(password, server), (one) => ({
            get: Redacted.value(password) === "" ? Effect.mapError(one.get, sayNoPassword) : one.get,
            invalidate: one.invalidate,
          }))
        : Effect.zipWith(sessionsAs(prepared, server), sessionsAs(password, server), (one, other) =>
            orElse(one, other, [WRONG_PASSWORD]),
          )
    const servers = yield* Effect.forEach(named, ({ host, isOptional, ssl, url }) => {
      const place = { url, ...(host !== undefined && { host }) }
      const one = sessions({ ...place, ssl })
      // As `sslmode=prefer` has it: plain text where the server has no TLS, or does not take it.
      return isOptional
        ? Effect.zipWith(one, sessions({ ...place, ssl: false }), (secured, plain) =>
            orElse(secured, plain, [NO_TLS, NOT_LET_IN]),
          )
        : one
    })
    const primary = yield* Primary.make(servers)
    const pool = new PgPool(primary, open, options)
    yield* Effect.addFinalizer(() => pool.#empty)
    return pool
  })

  readonly acquire = (restore: Restore): Effect.Effect<PgConnection, SqlError.SqlError, Scope.Scope> =>
    Effect.tap(this.#lend(restore), (connection) => Effect.addFinalizer(() => connection.close))

  readonly use = <A, E, R>(
    use: (connection: PgConnection) => Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(this.#lend(restore), (connection) =>
        Effect.onExit(restore(use(connection)), () => connection.close),
      ),
    )

  get status(): PgPoolStatus {
    const total = this.#open.count
    const waiting = this.#waiting
    const oldest = this.#awaited.first
    const waitedMillis = oldest === undefined ? 0 : performance.now() - oldest.sentAt
    const idle = Math.max(0, total - this.#leases.size - waiting)
    return { total, idle, waiting, waitedMillis, isRefused: this.#isRefused }
  }

  readonly #lend = (restore: Restore): Effect.Effect<PgConnection, SqlError.SqlError> =>
    Effect.flatMap(Scope.make(), (scope) =>
      Effect.onError(
        Effect.flatMap(restore(Scope.provide(this.#wait, scope)), (session) =>
          this.#take(session, scope, restore),
        ),
        () => Scope.close(scope, Exit.void),
      ),
    )

  readonly #take = Effect.fnUntraced(function* (
    this: PgPool,
    session: Session.PgConnection,
    scope: Scope.Closeable,
    restore: Restore,
  ): Effect.fn.Return<PgConnection, SqlError.SqlError> {
    const known = this.#known.get(session) ?? { reportedAt: this.#open.lastAt, isSetUp: false }
    if (known.reportedAt <= this.#host.silentSince) {
      yield* this.#primary.invalidate(session)
      yield* Scope.close(scope, Exit.void)
      return yield* this.#lend(restore)
    }
    const pinned = yield* Scope.provide(session.pin, scope)
    const connection = new PgConnection(pinned, this.#lease(session, known, scope))
    if (known.isSetUp) return connection
    this.#known.set(session, known)
    const { isStandby, refused } = yield* Effect.onError(restore(connection.setUp(this.#setUp)), () =>
      Effect.andThen(this.#primary.invalidate(session), connection.close),
    )
    if (refused !== undefined) {
      yield* Effect.andThen(this.#primary.invalidate(session), connection.close)
      return yield* refused
    }
    if (isStandby) {
      this.#primary.lose()
      yield* Effect.andThen(this.#primary.invalidate(session), connection.close)
      return yield* this.#primary.hasOthers ? this.#lend(restore) : standbyFailure
    }
    known.isSetUp = true
    return connection
  })

  /** Waits for a connection. The driver limits the time only if one is free or may be opened. */
  readonly #wait: Effect.Effect<Session.PgConnection, SqlError.SqlError, Scope.Scope> = Effect.suspend(() => {
    const isFull = this.#leases.size + this.#waiting >= this.#maxConnections
    this.#waiting++
    const session = this.#primary.get
    return Effect.onExit(isFull ? Effect.raceFirst(session, this.#late) : session, (exit) =>
      Effect.sync(() => {
        this.#waiting--
        if (Exit.isSuccess(exit)) this.#isRefused = false
        else if (!isFull && Exit.hasFails(exit)) this.#isRefused = true
      }),
    )
  })

  readonly #late = Effect.suspend(() => Effect.andThen(pause(this.#connectTimeout), noneFree))

  #lease(session: Session.PgConnection, known: Known, scope: Scope.Closeable): PgLease {
    let isDiscarded = false
    const expectAnswer = (withinMillis = this.#replyMillis): AwaitedAnswer => {
      const sentAt = performance.now()
      const watch = {
        sentAt,
        isLate: false,
        stop: () => {
          clearTimeout(timer)
          place.leave()
          if (!watch.isLate) known.reportedAt = performance.now()
        },
      }
      // The driver closes a connection whose lease ends under a running statement.
      const timer = setTimeout(() => {
        watch.isLate = true
        const lately = performance.now() - HEARD_LATELY_MILLIS
        this.#host.silentSince = Math.max(this.#host.silentSince, sentAt, lately)
        this.#primary.lose()
        Effect.runFork(Scope.close(scope, Exit.void))
      }, withinMillis)
      const place = this.#awaited.add(watch)
      return watch
    }
    const lease: PgLease = {
      expectAnswer,
      discard: () => {
        isDiscarded = true
        this.#primary.lose()
      },
      close: Effect.suspend(() => {
        place.leave()
        if (this.#leases.size === 0) this.#onAllReturned?.()
        const closed = Scope.close(scope, Exit.void)
        return isDiscarded ? Effect.andThen(this.#primary.invalidate(session), closed) : closed
      }),
    }
    const place = this.#leases.add(lease)
    return lease
  }

  readonly #allReturned = Effect.callback<void>((resume) => {
    this.#onAllReturned = () => resume(Effect.void)
  })

  readonly #empty = Effect.gen({ self: this }, function* () {
    if (this.#leases.size > 0) {
      yield* Effect.raceFirst(this.#allReturned, pause(Duration.millis(this.#replyMillis)))
    }
    for (const lease of Array.from(this.#leases)) yield* lease.close
  })
}

const noneFree = Effect.fail(
  sqlError("ConnectionError", {
    message:
      "No database connection became free in time: find long transactions in pg_stat_activity, or add a replica",
    operation: "connect",
  }),
)

import { Effect } from "effect"
import type { Scope } from "effect"
import type { SqlError } from "effect/sql"
import pg from "pg"
import { makePgConnection, type PgConnection } from "./PgConnection.ts"
import { checkedConfig, type PgPoolConfig } from "./checkedConfig.ts"
import type { PgPoolOptions } from "./PgPoolOptions.ts"
import { PgSession } from "./PgSession.ts"
import { StatementNames } from "./StatementNames.ts"
import { toSqlError } from "./toSqlError.ts"

/** Connections of a pool, counted. */
export interface PgPoolStatus {
  readonly total: number
  readonly idle: number
  /** Callers that wait for a connection. */
  readonly waiting: number
}

/** Lends connections of one database. */
export interface PgPool {
  /** Lends a connection to the current scope. */
  readonly acquirer: Effect.Effect<PgConnection, SqlError.SqlError, Scope.Scope>
  /** Lends a connection for one effect. */
  readonly borrow: <A, E, R>(
    use: (connection: PgConnection) => Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E | SqlError.SqlError, R>
  readonly status: Effect.Effect<PgPoolStatus>
}

interface OpenPool {
  readonly pool: pg.Pool
  readonly connections: WeakMap<pg.PoolClient, PgConnection>
  readonly leases: Set<Lease>
}

/**
 * One caller's wait for a connection, and its use. `close` gives back what has arrived or is still to arrive, so
 * nothing leaks whenever the caller is interrupted.
 */
class Lease {
  readonly #opened: OpenPool
  #release: (() => void) | undefined
  #closed = false

  constructor(opened: OpenPool) {
    this.#opened = opened
  }

  readonly connection: Effect.Effect<PgConnection, SqlError.SqlError> = Effect.callback((resume) => {
    const { connections, leases, pool } = this.#opened
    pool.connect((error, client, release) => {
      const connection = client && connections.get(client)
      if (connection === undefined) {
        return resume(Effect.fail(toSqlError(error, { operation: "connect", connectionLost: true })))
      }
      this.#release = () => release(!connection.session.isReusable)
      if (this.#closed) return this.#release()
      leases.add(this)
      resume(Effect.succeed(connection))
    })
  })

  close(): void {
    this.#closed = true
    this.#opened.leases.delete(this)
    const release = this.#release
    this.#release = undefined
    release?.()
  }
}

const openPool = ({ driver, replyMillis }: PgPoolConfig): OpenPool => {
  const pool = new pg.Pool(driver)
  const connections = new WeakMap<pg.PoolClient, PgConnection>()
  const names = new StatementNames()
  pool.on("connect", (client) => {
    const session = new PgSession(client, { config: driver, replyMillis })
    connections.set(client, makePgConnection(session, names))
  })
  // An idle connection was lost: the pool has dropped it already, and opens another when one is needed.
  pool.on("error", () => undefined)
  return { pool, connections, leases: new Set() }
}

/** Waits for connections in use, then closes them too. What a dead network keeps from closing is not waited for. */
const closePool = ({ leases, pool }: OpenPool, graceMillis: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const late = setTimeout(() => {
      for (const lease of leases) lease.close()
      resume(Effect.void)
    }, graceMillis)
    pool.end(() => {
      clearTimeout(late)
      resume(Effect.void)
    })
  })

/**
 * A pool of connections to one database, closed with the scope. Nothing is connected before the first use; fails only
 * when the URL cannot be used at all.
 */
export const makePgPool = Effect.fnUntraced(function* (
  options: PgPoolOptions,
): Effect.fn.Return<PgPool, SqlError.SqlError, Scope.Scope> {
  const config = yield* checkedConfig(options)
  const opened = yield* Effect.acquireRelease(
    Effect.sync(() => openPool(config)),
    (pool) => closePool(pool, config.replyMillis),
  )
  const { pool } = opened
  return {
    acquirer: Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const lease = new Lease(opened)
        return Effect.andThen(
          Effect.addFinalizer(() => Effect.sync(() => lease.close())),
          restore(lease.connection),
        )
      }),
    ),
    borrow: (use) =>
      Effect.suspend(() => {
        const lease = new Lease(opened)
        return Effect.onExit(Effect.flatMap(lease.connection, use), () => Effect.sync(() => lease.close()))
      }),
    status: Effect.sync(() => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount })),
  }
})

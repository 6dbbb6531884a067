import { setTimeout as pause } from "node:timers/promises"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type pg from "pg"
import { requestCancel } from "./requestCancel.ts"
import { type PgOperation, sqlError, toSqlError } from "./toSqlError.ts"

/** A statement as the driver takes it; rows come as arrays of values with `rowMode: "array"`. */
export interface PgQuery {
  readonly text: string
  readonly name?: string
  readonly values?: Array<unknown>
  readonly rowMode?: "array"
}

/** A cancel request that overtook its statement changes nothing, so it is repeated while the statement runs. */
const askAgainMillis = 1_000

interface Running {
  settled: boolean
  onSettled: (() => void) | undefined
}

/**
 * One connection of the pool: runs a statement at a time, cancels it on the server when its fiber is interrupted, and
 * knows whether it may be used again.
 *
 * Its timers are real ones: they bound the network, not a rule of the service.
 */
export class PgSession {
  readonly #client: pg.ClientBase
  readonly #config: pg.ClientConfig
  readonly #replyMillis: number
  #usable = true

  constructor(
    client: pg.ClientBase,
    options: { readonly config: pg.ClientConfig; readonly replyMillis: number },
  ) {
    this.#client = client
    this.#config = options.config
    this.#replyMillis = options.replyMillis
    const lose = () => {
      this.#usable = false
    }
    // The pool listens only while the client is idle: without this, a connection lost in use would end the process.
    client.on("error", lose)
    client.on("end", lose)
  }

  /** Whether the pool may hand this connection to somebody else: it works, and no transaction is open on it. */
  get isReusable(): boolean {
    return this.#usable && !this.inTransaction
  }

  /** Whether a transaction is open, failed or not, as of the last answer. */
  get inTransaction(): boolean {
    const status = this.#client.getTransactionStatus()
    return status === "T" || status === "E"
  }

  /**
   * Runs a statement and resumes once the connection is at rest again, also after an error.
   *
   * Interrupted, it cancels the statement on the server and waits until that is over, for `replyTimeout` at most;
   * then it gives the connection up. With `bounded`, an answer that takes longer than `replyTimeout` fails with a
   * `ConnectionError`: for statements that run where nothing can interrupt them.
   */
  run(
    query: PgQuery,
    { bounded = false, operation }: { readonly operation: PgOperation; readonly bounded?: boolean },
  ): Effect.Effect<pg.QueryResult, SqlError.SqlError> {
    return Effect.callback((resume) => {
      if (!this.#usable) {
        return resume(
          Effect.fail(sqlError("ConnectionError", { message: "The connection was lost", operation })),
        )
      }
      const running: Running = { settled: false, onSettled: undefined }
      const late = bounded ? setTimeout(() => resume(this.#giveUp(operation)), this.#replyMillis) : undefined
      const settle = (outcome: Effect.Effect<pg.QueryResult, SqlError.SqlError>) => {
        clearTimeout(late)
        running.settled = true
        running.onSettled?.()
        resume(outcome)
      }
      this.#client.query(query, (error, result) => {
        if (error === null || error === undefined) settle(Effect.succeed(result))
        else this.#whenAtRest(() => settle(this.#failure(error, operation)))
      })
      return Effect.promise(() => this.#cancel(running))
    })
  }

  #giveUp(operation: PgOperation) {
    this.#usable = false
    return Effect.fail(
      sqlError("ConnectionError", { message: "PostgreSQL did not answer in time", operation }),
    )
  }

  #failure(error: unknown, operation: PgOperation) {
    const failure = toSqlError(error, { operation, connectionLost: !this.#usable })
    if (failure.reason._tag === "ConnectionError") this.#usable = false
    return Effect.fail(failure)
  }

  /** An error arrives before the server is ready for the next statement, and before a socket that it closes. */
  #whenAtRest(proceed: () => void): void {
    if (!this.#usable) return proceed()
    const once = () => {
      this.#client.off("drain", once)
      this.#client.off("end", once)
      proceed()
    }
    this.#client.on("drain", once)
    this.#client.on("end", once)
  }

  async #cancel(running: Running): Promise<void> {
    const settled = new Promise<void>((resolve) => {
      running.onSettled = resolve
    })
    const deadline = new AbortController()
    const late = setTimeout(() => deadline.abort(), this.#replyMillis)
    try {
      while (!running.settled) {
        await requestCancel(this.#config, this.#client, deadline.signal)
        await Promise.race([
          settled,
          pause(askAgainMillis, undefined, { signal: deadline.signal, ref: false }),
        ])
      }
    } catch {
      this.#usable = false
    } finally {
      clearTimeout(late)
    }
  }
}

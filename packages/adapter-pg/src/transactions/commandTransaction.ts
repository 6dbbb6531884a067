import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { CommandDatabase, Database } from "../Database.ts"
import { beginLoading, type Loading } from "./Loading.ts"
import { type NewRows, persistChanges, type TransactionRef } from "./persistChanges.ts"
import { settleCommit } from "./settleCommit.ts"

/** Opens a transaction around an effect. */
type Begin = <A>(
  database: Database,
  body: Effect.Effect<A, SqlError.SqlError>,
) => Effect.Effect<A, SqlError.SqlError>

/** The reply of a committed transaction, with the rows that it loaded and changed. */
export interface Committed<A> extends Loading {
  readonly reply: A
  /** Identifies the transaction; `undefined` if it wrote nothing. */
  readonly ref: TransactionRef | undefined
}

/**
 * Loads, decides and persists in one transaction. If the connection is lost during COMMIT, it asks
 * PostgreSQL whether the transaction committed: then it succeeds, otherwise it fails like any
 * transaction that was rolled back.
 */
export const commandTransaction = <A>(
  database: CommandDatabase,
  { begin, newRows }: { readonly begin: Begin; readonly newRows: NewRows },
  decide: (loading: Loading) => Effect.Effect<A, SqlError.SqlError>,
): Effect.Effect<Committed<A>, SqlError.SqlError | StorageError> =>
  database.announcer.attempt((announce) => {
    const { pg } = database
    let decided: Committed<A> | undefined
    const body = Effect.tap(decideAndPersist(pg, newRows, decide), (written) => {
      decided = written
      return written.workspace.leavesDelivery ? announce(pg) : Effect.void
    })
    return Effect.catchIf(begin(database, body), isLostCommit, (error) => {
      if (decided === undefined) return Effect.fail(error)
      // A decision that wrote nothing has nothing to lose.
      if (decided.ref === undefined) return Effect.succeed(decided)
      const committed = Effect.succeed(decided)
      return Effect.flatMap(settleCommit(pg, decided.ref), (outcome) =>
        outcome === "committed" ? committed : Effect.fail(error),
      )
    })
  })

const decideAndPersist = Effect.fnUntraced(function* <A>(
  pg: PgClient["Service"],
  newRows: NewRows,
  decide: (loading: Loading) => Effect.Effect<A, SqlError.SqlError>,
): Effect.fn.Return<Committed<A>, SqlError.SqlError> {
  const loading = beginLoading(pg)
  const reply = yield* decide(loading)
  const ref = yield* persistChanges(pg, loading.workspace.changes(), newRows)
  return { ...loading, reply, ref }
})

const isLostCommit = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConnectionError" && reason.operation === "commit"

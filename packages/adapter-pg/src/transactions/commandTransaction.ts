import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { CommandDatabase, Database } from "../Database.ts"
import { beginLoading, type Loading } from "./Loading.ts"
import { type NewRows, persistChanges, type TransactionRef } from "./persistChanges.ts"
import { resolveUnknownCommit } from "./resolveUnknownCommit.ts"

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

/** How a transaction begins, what it may assume of new rows, and what becomes of it. */
interface TransactionOptions<A, B> {
  readonly begin: Begin
  readonly newRows: NewRows
  /** Called once, as soon as it is known to be committed, also if its fiber was interrupted. */
  readonly onCommitted: (committed: Committed<A>) => B
}

/**
 * Loads, decides and persists in one transaction. If the connection is lost during COMMIT, it asks
 * PostgreSQL whether the transaction committed: then it succeeds, otherwise it fails like any
 * transaction that was rolled back. If it is interrupted during COMMIT, it asks as well.
 */
export const commandTransaction = <A, B>(
  database: CommandDatabase,
  { begin, newRows, onCommitted }: TransactionOptions<A, B>,
  decide: (loading: Loading) => Effect.Effect<A, SqlError.SqlError>,
): Effect.Effect<B, SqlError.SqlError | StorageError> =>
  database.announcer.attempt((announce) => {
    const { pg } = database
    /** The persisted result, as long as its commit is not confirmed. */
    let persisted: Committed<A> | undefined
    const body = Effect.tap(decideAndPersist(pg, newRows, decide), (written) => {
      persisted = written
      return written.unit.leavesDelivery ? announce(pg) : Effect.void
    })
    const settled = Effect.suspend(() => {
      // A decision that wrote nothing has nothing to lose.
      if (persisted?.ref === undefined) return Effect.succeed(persisted)
      return Effect.map(resolveUnknownCommit(pg, persisted.ref), (outcome) =>
        outcome === "committed" ? persisted : undefined,
      )
    })
    const committed = (decided: Committed<A>): B => {
      persisted = undefined
      return onCommitted(decided)
    }
    return Effect.catchIf(begin(database, body), isLostCommit, (error) =>
      Effect.flatMap(settled, (decided) =>
        decided === undefined ? Effect.fail(error) : Effect.succeed(decided),
      ),
    ).pipe(
      Effect.map(committed),
      Effect.onInterrupt(() =>
        Effect.ignore(Effect.map(settled, (decided) => decided && committed(decided))),
      ),
    )
  })

const decideAndPersist = Effect.fnUntraced(function* <A>(
  pg: PgClient["Service"],
  newRows: NewRows,
  decide: (loading: Loading) => Effect.Effect<A, SqlError.SqlError>,
): Effect.fn.Return<Committed<A>, SqlError.SqlError> {
  const loading = beginLoading(pg)
  const reply = yield* decide(loading)
  const ref = yield* persistChanges(pg, loading.unit.changes(), newRows)
  return { ...loading, reply, ref }
})

const isLostCommit = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConnectionError" && reason.operation === "commit"

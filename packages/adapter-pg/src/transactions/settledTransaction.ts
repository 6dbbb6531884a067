import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { CommandDatabase } from "../Database.ts"
import type { TransactionMark } from "./persistChanges.ts"
import { settleCommit } from "./settleCommit.ts"

/** What a transaction decided, and what tells whether it was kept; `undefined` where it wrote nothing. */
export interface Decided<A> {
  readonly reply: A
  readonly mark: TransactionMark | undefined
  /** Whether other processes should hear of it. */
  readonly leavesDelivery: boolean
}

/**
 * Runs `body` in the transaction that `begin` opens around it. Where the connection is lost at COMMIT it finds out whether
 * that was done: it succeeds if so, and otherwise fails as any transaction that was not kept.
 */
export const settledTransaction = <A>(
  { announcer, pg }: CommandDatabase,
  begin: (body: Effect.Effect<Decided<A>, SqlError.SqlError>) => Effect.Effect<Decided<A>, SqlError.SqlError>,
  body: Effect.Effect<Decided<A>, SqlError.SqlError>,
): Effect.Effect<Decided<A>, SqlError.SqlError | StorageError> =>
  announcer.attempt((announce) => {
    let decided: Decided<A> | undefined
    const noted = Effect.tap(body, (made) => {
      decided = made
      return made.leavesDelivery ? announce(pg) : Effect.void
    })
    return Effect.catchIf(begin(noted), isLostCommit, (error) =>
      decided === undefined ? Effect.fail(error) : afterLostCommit(pg, decided, error),
    )
  })

const isLostCommit = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConnectionError" && reason.operation === "commit"

const afterLostCommit = <A>(
  pg: PgClient["Service"],
  decided: Decided<A>,
  error: SqlError.SqlError,
): Effect.Effect<Decided<A>, SqlError.SqlError | StorageError> =>
  // A decision that wrote nothing has nothing to lose.
  decided.mark === undefined
    ? Effect.succeed(decided)
    : Effect.flatMap(settleCommit(pg, decided.mark), (outcome) =>
        outcome === "committed" ? Effect.succeed(decided) : Effect.fail(error),
      )

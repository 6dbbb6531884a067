import * as Instant from "@tocsin/core/contract/Instant"
import type { StorageError } from "@tocsin/core/ports/Storage"
import type { Command, Decision } from "@tocsin/core/workspace/Decision"
import type { Scope } from "@tocsin/core/workspace/Scope"
import { Workspace } from "@tocsin/core/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { Database } from "../Database.ts"
import { indexedTransaction } from "./indexedTransaction.ts"
import { loadScope } from "./loadScope.ts"
import { persistChanges, type TransactionMark } from "./persistChanges.ts"
import { retryTransient } from "./retryTransient.ts"
import { settleCommit } from "./settleCommit.ts"

interface Decided<A> {
  readonly reply: A
  readonly mark: TransactionMark | undefined
}

/** Runs a command in a transaction of its own; see `Storage.transact`. */
export const transact = <A>(database: Database, command: Command<A>): Effect.Effect<A, StorageError> =>
  retryTransient(attempt(database, command))

const attempt = Effect.fnUntraced(function* <A>(
  database: Database,
  command: Command<A>,
): Effect.fn.Return<A, SqlError.SqlError | StorageError> {
  const { pg } = database
  const outcome: { decided: Decided<A> | undefined } = { decided: undefined }
  const transaction = Effect.gen(function* () {
    const workspace = new Workspace()
    const now = yield* Instant.now
    const reply = yield* decide(command(workspace, now), (scope) => loadScope(pg, workspace, scope, now))
    outcome.decided = { reply, mark: yield* persistChanges(pg, workspace.changes()) }
    return reply
  })
  return yield* Effect.catchIf(indexedTransaction(database, transaction), isLostCommit, (error) =>
    outcome.decided === undefined ? Effect.fail(error) : afterLostCommit(pg, outcome.decided, error),
  )
})

const decide = Effect.fnUntraced(function* <A>(
  decision: Decision<A>,
  load: (scope: Scope) => Effect.Effect<void, SqlError.SqlError>,
) {
  let step = decision.next()
  while (step.done !== true) {
    yield* load(step.value)
    step = decision.next()
  }
  return step.value
})

const isLostCommit = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConnectionError" && reason.operation === "commit"

const afterLostCommit = <A>(
  pg: PgClient["Service"],
  { reply, mark }: Decided<A>,
  error: SqlError.SqlError,
): Effect.Effect<A, SqlError.SqlError | StorageError> =>
  // A decision that wrote nothing has nothing to lose.
  mark === undefined
    ? Effect.succeed(reply)
    : Effect.flatMap(settleCommit(pg, mark), (outcome) =>
        outcome === "committed" ? Effect.succeed(reply) : Effect.fail(error),
      )

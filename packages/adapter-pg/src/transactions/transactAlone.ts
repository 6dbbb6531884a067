import * as Instant from "@tocsin/contract/Instant"
import type { StorageError } from "@tocsin/core/ports/Storage"
import type { Command, Outcome } from "@tocsin/core/engine/unitOfWork/Decision"
import { Effect } from "effect"
import type { CommandDatabase } from "../Database.ts"
import { commandTransaction, type Committed } from "./commandTransaction.ts"
import { indexedTransaction } from "./indexedTransaction.ts"
import type { Loading } from "./Loading.ts"
import { loadRows } from "./loadRows.ts"
import { retryTransient } from "./retryTransient.ts"
import { search } from "./search.ts"

/**
 * Runs a command alone in a transaction; see `Storage.transact`. `committed` gets its outcome,
 * and makes the reply.
 */
export const transactAlone = <A>(
  database: CommandDatabase,
  command: Command<Outcome<A>>,
  committed: (outcome: Outcome<A>) => A,
): Effect.Effect<A, StorageError> =>
  retryTransient(
    commandTransaction(
      database,
      {
        begin: indexedTransaction,
        newRows: "upserted",
        onCommitted: ({ reply }: Committed<Outcome<A>>) => committed(reply),
      },
      (loading) => decideAlone(loading, command),
    ),
  )

const decideAlone = Effect.fnUntraced(function* <A>(loading: Loading, command: Command<A>) {
  const now = yield* Instant.now
  const decision = command(loading.unit, now)
  let step = decision.next()
  while (step.done !== true) {
    yield* loadRows(loading, [step.value])
    yield* search(loading, step.value, now)
    step = decision.next()
  }
  return step.value
})

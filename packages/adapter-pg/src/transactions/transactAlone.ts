import * as Instant from "@tocsin/core/contract/Instant"
import type { StorageError } from "@tocsin/core/ports/Storage"
import type { Command } from "@tocsin/core/engine/workspace/Decision"
import { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { CommandDatabase } from "../Database.ts"
import { decide } from "./decide.ts"
import { indexedTransaction } from "./indexedTransaction.ts"
import { loadRows } from "./loadRows.ts"
import { persistChanges } from "./persistChanges.ts"
import { retryTransient } from "./retryTransient.ts"
import { settledTransaction } from "./settledTransaction.ts"

/** Runs a command in a transaction of its own; see `Storage.transact`. */
export const transactAlone = <A>(
  database: CommandDatabase,
  command: Command<A>,
): Effect.Effect<A, StorageError> => {
  const { pg } = database
  const body = Effect.gen(function* () {
    const workspace = new Workspace()
    const now = yield* Instant.now
    const reply = yield* decide(command(workspace, now), (scope) => loadRows(pg, workspace, scope, now))
    const mark = yield* persistChanges(pg, workspace.changes(), "upserted")
    return { reply, mark, leavesDelivery: workspace.leavesDelivery }
  })
  const attempt = settledTransaction(database, (made) => indexedTransaction(database, made), body)
  return retryTransient(Effect.map(attempt, ({ reply }) => reply))
}

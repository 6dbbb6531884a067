import type { StorageError } from "@tocsin/core/ports/Storage"
import type { Decision } from "@tocsin/core/engine/workspace/Decision"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import type { Effect } from "effect"
import type { Replica } from "./Replica.ts"
import { transact } from "./transact.ts"

/** Sends row requests in order, then reads from the workspace that they filled. Changes nothing. */
export const observe = <A>(
  { storage }: Pick<Replica, "storage">,
  rowRequests: ReadonlyArray<RowRequest>,
  read: (workspace: Workspace) => A,
): Effect.Effect<A, StorageError> =>
  transact(storage, function* (workspace): Decision<A> {
    yield* rowRequests
    return read(workspace)
  })

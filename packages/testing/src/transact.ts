import type { Storage, StorageError } from "@tocsin/core/ports/Storage"
import type { Command } from "@tocsin/core/engine/workspace/Decision"
import { Effect } from "effect"

/** Runs a command on a storage, and returns its reply alone. */
export const transact = <A>(
  storage: Storage["Service"],
  command: Command<A>,
): Effect.Effect<A, StorageError> => Effect.map(storage.transact(command), ({ reply }) => reply)

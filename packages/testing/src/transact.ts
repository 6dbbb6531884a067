import type { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { type Command, reporting } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { Effect } from "effect"

/** Runs a command on a storage, and returns its reply. Nothing listens for its changes. */
export const transact = <A>(
  storage: Storage["Service"],
  command: Command<A>,
): Effect.Effect<A, StorageError> => storage.transact(reporting(command, () => {}))

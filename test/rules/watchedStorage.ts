import { Storage } from "@tocsin/core/ports/Storage"
import { applyChanges, noRows, type Rows } from "./Rows.ts"

/** A storage, and what its commands made of it. */
export interface WatchedStorage {
  readonly storage: Storage["Service"]
  /** All rows as the commands so far left them. */
  readonly rows: () => Rows
}

/** Notes what every command changes. For storages that decide once and cannot fail. */
export const watchedStorage = (storage: Storage["Service"]): WatchedStorage => {
  let rows = noRows
  return {
    rows: () => rows,
    storage: Storage.of({
      ...storage,
      transact: (command) =>
        storage.transact(function* (workspace, now) {
          const reply = yield* command(workspace, now)
          rows = applyChanges(rows, workspace.changes())
          return reply
        }),
    }),
  }
}

import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { realFile } from "@tocsin/adapter-sqlite/connection/OpenFiles"
import * as SqliteInspection from "@tocsin/adapter-sqlite/inspection/inspectStorage"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { CopySource, CopyTarget, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Redacted } from "effect"
import type { StorageChoice } from "./storages.ts"

/** A storage that data is copied from, or into. */
export interface CopyEnd {
  /** Its name for people, without an address, which may hold a password. */
  readonly name: string
  /** The file of SQLite. */
  readonly file?: string
  /** Where to look if it does not give back what it acknowledged; by default, at its disk. */
  readonly advice?: string
  /** Fails if it cannot be opened. Absent where one process has it. */
  readonly state?: Effect.Effect<PlaceState, StorageError>
  readonly withSource: <A, E>(
    use: (source: CopySource) => Effect.Effect<A, E>,
  ) => Effect.Effect<A, E | StorageError>
  readonly withTarget: <A, E>(
    use: (target: CopyTarget) => Effect.Effect<A, E>,
  ) => Effect.Effect<A, E | StorageError>
}

export interface PlaceState {
  /** How many migrations it went through, of how many. */
  readonly applied: number
  readonly known: number
  /** The file, if there is none. */
  readonly absent?: string
  /** A server's last service heartbeat on it, by that server's clock. */
  readonly serviceHeartbeatAt: Instant | undefined
}

/** A durable storage, inspected and copied without starting a server on it. */
export interface StoragePlace extends CopyEnd {
  readonly state: Effect.Effect<PlaceState, StorageError>
}

/** Whether other processes can look at it. */
export const isPlace = (end: CopyEnd): end is StoragePlace => end.state !== undefined

export const sqlitePlace = (file: string): StoragePlace => ({
  name: `SQLite in ${file}`,
  file,
  state: Effect.flatMap(realFile(file), (found): StoragePlace["state"] =>
    existsSync(found)
      ? Effect.map(SqliteInspection.inspectStorage(found), ({ applied = 0, ...rest }) => ({
          applied,
          ...rest,
        }))
      : Effect.succeed({ absent: resolve(found), applied: 0, known: 0, serviceHeartbeatAt: undefined }),
  ),
  withSource: (use) => Effect.flatMap(sqliteCopying, ({ withCopySource }) => withCopySource(file, use)),
  withTarget: (use) => Effect.flatMap(sqliteCopying, ({ withCopyTarget }) => withCopyTarget(file, use)),
})

/** Loaded when they are used: few programs copy, and those on other storages do without the driver. */
const sqliteCopying = Effect.promise(() => import("@tocsin/adapter-sqlite/copy/CopyConnection"))
const keyValueCopying = Effect.promise(() => import("@tocsin/adapter-memory/keyValue/copyKeyValue"))
const inspection = Effect.promise(() => import("@tocsin/adapter-pg/inspection/inspectStorage"))
const copying = Effect.promise(() => import("@tocsin/adapter-pg/copy/copyConnection"))

export const postgresPlace = (url: Redacted.Redacted): StoragePlace => ({
  name: "PostgreSQL",
  state: Effect.flatMap(inspection, ({ inspectStorage }) => inspectStorage({ url })),
  withSource: (use) => Effect.flatMap(copying, ({ withCopySource }) => withCopySource(url, use)),
  withTarget: (use) => Effect.flatMap(copying, ({ withCopyTarget }) => withCopyTarget(url, use)),
})

/** A key-value store: one process has it. */
const keyValueEnd = (options: Extract<StorageChoice, { readonly kind: "keyValue" }>["options"]): CopyEnd => ({
  name: options.name,
  advice: `${options.name} lacks rows that its write acknowledged, or has others: look for a missing await there`,
  withSource: (use) => Effect.flatMap(keyValueCopying, ({ withCopySource }) => withCopySource(options, use)),
  withTarget: (use) => Effect.flatMap(keyValueCopying, ({ withCopyTarget }) => withCopyTarget(options, use)),
})

/** A storage as one end of a copy; memory is none. */
export const endOf = (choice: StorageChoice): CopyEnd | undefined => {
  switch (choice.kind) {
    case "memory":
      return undefined
    case "sqlite":
      return sqlitePlace(choice.file())
    case "postgres":
      return postgresPlace(Redacted.make(choice.url()))
    case "keyValue":
      return keyValueEnd(choice.options)
  }
}

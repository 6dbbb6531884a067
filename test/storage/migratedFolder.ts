import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { Effect, Layer } from "effect"
import { ScratchFolder } from "./ScratchFolder.ts"

const FILE = "tocsin.db"

/** A storage in the database of a {@link migratedFolder}. */
export const storageInFolder = (options: Omit<SqliteStorage.SqliteStorageOptions, "file"> = {}) =>
  Layer.unwrap(
    Effect.map(ScratchFolder, ({ path }) => SqliteStorage.layer({ ...options, file: join(path, FILE) })),
  )

let migrated: Uint8Array | undefined

/** The file of a database without a row, which one storage has made for all tests of a process. */
const migratedFile = Effect.gen(function* () {
  const { path } = yield* ScratchFolder
  yield* Effect.scoped(Layer.build(Layer.fresh(storageInFolder())))
  return (migrated ??= readFileSync(join(path, FILE)))
}).pipe(Effect.provide(Layer.fresh(ScratchFolder.layer)))

/** A folder with a SQLite database without a row: much faster than its migrations for every test. */
export const migratedFolder = Layer.effect(
  ScratchFolder,
  Effect.gen(function* () {
    const { path } = yield* ScratchFolder
    writeFileSync(join(path, FILE), migrated ?? (yield* migratedFile))
    return ScratchFolder.of({ path })
  }),
).pipe(Layer.provide(ScratchFolder.layer))

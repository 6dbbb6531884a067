import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"

const HEADER_BYTES = 32
export const FRAME_BYTES = 24 + 4_096
// The first salt, which counts.
const SALT_AT = 16

/** How often a file's log was begun anew. */
export const beginnings = (file: string): number => readFileSync(`${file}-wal`).readUInt32BE(SALT_AT)

/** Changes a byte of one page of a log. */
export const spoil = (log: string, page: number): void => {
  const descriptor = openSync(log, "r+")
  const at = HEADER_BYTES + page * FRAME_BYTES + 2_000
  const byte = Buffer.alloc(1)
  readSync(descriptor, byte, 0, 1, at)
  writeSync(descriptor, Buffer.of(byte.readUInt8(0) ^ 1), 0, 1, at)
  closeSync(descriptor)
}

/** How many pages of a log are in use; its file is longer. */
export const pagesInUse = (file: string): number => {
  const reader = new DatabaseSync(file, { readOnly: true, returnArrays: true })
  const row: unknown = reader.prepare("PRAGMA wal_checkpoint(NOOP)").get()
  reader.close()
  return (row as [busy: number, pages: number, moved: number])[1]
}

/** Reads from a file, and from its log as it is now, until the scope ends or `stop`. */
export const readOn = (file: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const reader = new DatabaseSync(file)
        reader.exec("BEGIN")
        reader.prepare("SELECT count(*) FROM agent").get()
        return reader
      }),
      (reader) => Effect.sync(() => reader.close()),
    ),
    (reader) => ({ stop: Effect.sync(() => reader.exec("COMMIT")) }),
  )

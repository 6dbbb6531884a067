import { StorageError } from "@tocsin/core/ports/Storage"
import { readAt } from "../connection/readAt.ts"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { SALTS_AT, SALTS_BYTES } from "./LogFile.ts"
import { type LogPosition, LOG_START } from "./LogPosition.ts"
import { noteFile, readNote, removeNote } from "./spoiledNote.ts"
import { verifyLog } from "./verifyLog.ts"

/** Says that a log does not read back as it was written, and what to do. */
export const spoiledLog = (file: string): StorageError =>
  new StorageError({
    reason: "damaged",
    message: `${file}-wal has lost written pages: stop every program that has ${file} open, check the disk, and start Tocsin again`,
  })

/** A log that starts over while it is read looks spoiled; this often it is read again. */
const LOOKS = 3

/**
 * Looks at the log of a database before anything may move it into the file; SQLite does so without a look at its checksums
 * as long as another process has it open. Throws a StorageError (`damaged`) where a page does not read back, or where one is
 * missing that was acknowledged. `connection` reads only, so that closing it moves nothing either.
 */
export const verifyOpened = (connection: SqliteConnection): void => {
  const { file } = connection
  const found = readSoundLog(connection)
  const acknowledged = readNote(file)
  if (acknowledged === undefined || acknowledged.salts !== found.salts) return
  if (found.pages >= acknowledged.pages) return
  throw new StorageError({
    reason: "damaged",
    message: `${file}-wal has lost acknowledged changes: restore a backup, or delete ${noteFile(file)} to start without them`,
  })
}

const readSoundLog = (connection: SqliteConnection): LogPosition => {
  const log = `${connection.file}-wal`
  const position = () => {
    const pages = connection.logPages()
    return pages === 0 ? LOG_START : { salts: readAt(log, SALTS_AT, SALTS_BYTES).readBigUInt64BE(), pages }
  }
  for (let look = 1; ; look++) {
    const { salts, pages } = position()
    if (pages === 0 || verifyLog(log, { pages, isWrittenAgain: false })) return { salts, pages }
    if (look === LOOKS || position().salts === salts) throw spoiledLog(connection.file)
  }
}

/**
 * Ends what a note about a spoiled log began: writes what is left of the log again and syncs it, for the system may have it
 * in memory alone, and removes the note. To be called once `verifyOpened` has found it sound.
 */
export const endNote = (connection: SqliteConnection): void => {
  const { file } = connection
  if (readNote(file) !== undefined) {
    const pages = connection.logPages()
    const log = `${file}-wal`
    // Within a transaction nobody else writes there.
    const isSound = connection.transaction(
      () => pages === 0 || verifyLog(log, { pages, isWrittenAgain: true }),
    )
    if (!isSound) throw spoiledLog(file)
  }
  removeNote(file)
}

import { readFileSync, rmSync } from "node:fs"
import type { LogPosition } from "./LogPosition.ts"

/** The note about a log that does not read back as it was written; it stands beside the database. */
export const noteFile = (file: string): string => `${file}-wal-spoiled`

/**
 * Notes beside a database that its log does not read back, and up to where the log was acknowledged: after the next start
 * checksums tell only where the log ends now. As far as the disk lets it. It is handed to the checkpoint worker as text: it
 * uses nothing but its arguments.
 */
export const noteSpoiled = (file: string, acknowledged: LogPosition): void => {
  const { writeFileSync } = process.getBuiltinModule("node:fs")
  const salts = acknowledged.salts.toString(16).padStart(16, "0")
  const text = `${salts} ${acknowledged.pages}\nTocsin keeps this file until it has started on the database again.\n`
  try {
    writeFileSync(`${file}-wal-spoiled`, text, { flush: true })
  } catch {
    // The disk has failed: without the note the next start relies on the log's checksums alone.
  }
}

/** Up to where a log that was found spoiled had been acknowledged. */
export const readNote = (file: string): LogPosition | undefined => {
  try {
    const [, salts, pages] = /^([0-9a-f]{16}) (\d+)\n/.exec(readFileSync(noteFile(file), "utf8")) ?? []
    return salts === undefined ? undefined : { salts: BigInt(`0x${salts}`), pages: Number(pages) }
  } catch {
    return undefined
  }
}

/** Removes the note, once the log is sound again. */
export const removeNote = (file: string): void => rmSync(noteFile(file), { force: true })

import { existsSync, renameSync } from "node:fs"

/** A database, and what SQLite keeps beside it; the file itself last. */
const SUFFIXES = ["-wal", "-shm", ""]

/**
 * Renames a damaged spool and returns its new name. A number keeps names of several damaged files of
 * one moment apart.
 */
export const quarantine = (path: string, now: number): string => {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, "-")
  let aside = `${path}.damaged-${stamp}`
  for (let number = 2; existsSync(aside); number++) aside = `${path}.damaged-${stamp}-${number}`
  for (const suffix of SUFFIXES) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
  return aside
}

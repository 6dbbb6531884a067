import { dirname } from "node:path"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

/**
 * Whether a file with all migrations may keep what an earlier version deleted or replaced, among it header fields of
 * watches in clear: since migration 5, what is deleted leaves the file. A rewritten file has the mark.
 */
export const KEEPS_DELETED = `SELECT (SELECT user_version FROM pragma_user_version) = 0
  AND (SELECT count(DISTINCT applied_at) FROM schema_migration WHERE id IN (1, 5)) > 1
  AND (EXISTS (SELECT 1 FROM watch) OR EXISTS (SELECT 1 FROM audit WHERE action LIKE 'watch.%')) AS keeps`

/** Rewrites the file without it. */
export const LEAVE_OUT_DELETED = "VACUUM; PRAGMA user_version = 1"

export const keepsDeleted = (connection: SqliteConnection): boolean =>
  connection.query<[keeps: bigint]>(KEEPS_DELETED).get()?.[0] === 1n

/** The advice where the file still keeps it afterwards. */
export const leaveOutDeleted = (connection: SqliteConnection): string | undefined => {
  if (!keepsDeleted(connection)) return undefined
  try {
    // The copy that VACUUM makes would be in memory otherwise. The log would keep the old pages.
    connection.execute(`PRAGMA temp_store_directory = '${dirname(connection.file).replaceAll("'", "''")}';
      PRAGMA temp_store = FILE; ${LEAVE_OUT_DELETED}; PRAGMA wal_checkpoint(TRUNCATE)`)
    return undefined
  } catch {
    return deletedTextAdvice(connection.file)
  } finally {
    connection.execute("PRAGMA temp_store_directory = ''; PRAGMA temp_store = MEMORY")
  }
}

export const deletedTextAdvice = (file: string): string =>
  `${file} may keep header fields of watches that an earlier version deleted, in clear: restart the server with twice as much free disk space as the file has`

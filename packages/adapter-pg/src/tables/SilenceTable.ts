import { ADVISORY_LOCKS } from "../advisoryLocks.ts"
import { keyedTables } from "./keyedTables.ts"

/** Silences. */
export const silenceTable = keyedTables.silence

/** Reads the silences that have begun by `$1` and end after `$2`. */
export const findSilencesInForce = `SELECT ${silenceTable.columns} FROM silence AS q WHERE q.starts_at <= $1 AND q.ends_at > $2 ORDER BY q.id`

/** Serialises counts of silences until the transaction ends. */
export const lockSilenceCount = `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.silenceCount}) AS locked`

/** Reads the silences that end after `$1`. */
export const findUnendedSilences = `SELECT ${silenceTable.columns} FROM silence AS q WHERE q.ends_at > $1`

/** The meaning of a database failure for the spool. */
export type SpoolFault =
  /** The file is no database or contradicts itself: it is set aside. */
  | "damaged"
  /** The disk refuses writes for now: results wait in memory. */
  | "refused"
  /** A defect of the agent. */
  | "defect"

const BUSY = 5

/** The primary result code, without the extended part. */
export const primaryOf = (errcode: unknown): number => Number(errcode) & 0xff

/** Another process has the database. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && primaryOf(error.errcode) === BUSY

/** Primary result codes of SQLite. Everything else is a defect. */
const FAULTS: ReadonlyMap<number, SpoolFault> = new Map([
  [BUSY, "refused"],
  [6, "refused"], // LOCKED
  [7, "refused"], // NOMEM
  [8, "refused"], // READONLY
  [10, "refused"], // IOERR
  [13, "refused"], // FULL
  [14, "refused"], // CANTOPEN
  [1, "damaged"], // ERROR: the statements are constant, so the tables are not those of a spool
  [11, "damaged"], // CORRUPT
  [26, "damaged"], // NOTADB
])

/** A read that ended before the file should: it was cut. */
const IOERR_SHORT_READ = 522

export const spoolFaultOf = (error: unknown): SpoolFault => {
  if (typeof error !== "object" || error === null) return "defect"
  // A file that cannot even be created.
  if ("syscall" in error) return "refused"
  if (!("errcode" in error)) return "defect"
  if (error.errcode === IOERR_SHORT_READ) return "damaged"
  return FAULTS.get(primaryOf(error.errcode)) ?? "defect"
}

import { CHECK_COLUMNS, OF_CHECK } from "../../kernel/model/CheckRef.ts"
import { array, keyedTable, orUndefined, type RecordOf, text } from "../../kernel/model/TableShape.ts"

/** A run of a check that has begun and not reported yet. */
export interface Start {
  /** Ties a start to its end; empty where the sender gives none. */
  readonly rid: string
  /** When it began, in microseconds since 1970. */
  readonly at: number
}

/** A check of which runs have begun, the oldest first, or which has a log for its next result. */
export const job_run = keyedTable({
  name: "job_run",
  ...OF_CHECK,
  columns: {
    ...CHECK_COLUMNS,
    starts: array<Start>(),
    /** A text for the output of the next result. */
    log: orUndefined(text()),
  },
})
export type JobRunRecord = RecordOf<typeof job_run>

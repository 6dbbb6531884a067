import type { AgentId, CheckId, RegistrationId } from "@tocsin/contract/Identifiers"
import { array, keyedTable, orUndefined, type RecordOf, text, uuid } from "./TableShape.ts"

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
  key: ["agent_id", "check_id", "registration_id"],
  locks: "guarded",
  group: ["agent_id", "registration_id"],
  columns: {
    agent_id: text<AgentId>(),
    registration_id: uuid<RegistrationId>(),
    check_id: text<CheckId>(),
    starts: array<Start>(),
    /** A text for the output of the next result. */
    log: orUndefined(text()),
  },
})
export type JobRunRecord = RecordOf<typeof job_run>

import type { IncidentRecord } from "../../incidents/IncidentRecord.ts"
import type { Change } from "./Table.ts"

/** What one command changed, as far as anyone listens for it: see `Commits`. */
export interface CommandChanges {
  /** Whether it changed any row. */
  readonly isWrite: boolean
  /** Whether it changed anything that delivery waits for: outbox items or alerts. */
  readonly isOutboxChanged: boolean
  /** The incidents that it opened or changed. */
  readonly incidents: ReadonlyArray<Change<IncidentRecord>>
}

/** The changes of a command that changed nothing. */
export const NO_CHANGES: CommandChanges = { isWrite: false, isOutboxChanged: false, incidents: [] }

/** The changes of a command that changed neither incidents nor the outbox. */
export const OTHER_CHANGES: CommandChanges = { ...NO_CHANGES, isWrite: true }

import type { IncidentRecord } from "../../model/IncidentRecord.ts"
import { NO_TOPICS, type Topics } from "../../topics/Topics.ts"
import type { Change } from "./Table.ts"

/** The changes of one command, as far as anyone listens for them: see `Commits`. */
export interface CommandChanges {
  /** Whether it changed any row. */
  readonly isWrite: boolean
  /** Whether it changed anything that delivery waits for: outbox items or alerts. */
  readonly isOutboxChanged: boolean
  /** The topics that clients with a stream must fetch again (docs/rules.md#live-views). */
  readonly topics: Topics
  /** The incidents that it opened or changed. */
  readonly incidents: ReadonlyArray<Change<IncidentRecord>>
}

/** The changes of a command that changed nothing. */
export const NO_CHANGES: CommandChanges = {
  isWrite: false,
  isOutboxChanged: false,
  topics: NO_TOPICS,
  incidents: [],
}

/** The changes of a command in which nothing is new but times. */
export const OTHER_CHANGES: CommandChanges = { ...NO_CHANGES, isWrite: true }

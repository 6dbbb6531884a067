import { move, stateTable } from "@tocsin/contract/formats/TransitionTable"

/** Moves of the write-ahead log of one open file, from the first command to the end of the process. */
export const LogTransitions = stateTable({
  absent: {
    "opened -> healthy":
      "every page of the log in use reads back with its checksum, and none that was acknowledged is missing | the log starts over where no other process uses it",
  },
  healthy: {
    "sync_started -> syncing": "a commit is not on the disk yet",
    "closed -> absent":
      "all commands are answered | the last process that has the file open moves the log into it and removes the log",
  },
  syncing: {
    "synced -> healthy":
      "the sync succeeded | commands committed before the sync began are answered; the next sync begins if others wait",
    "sync_failed -> failed":
      "the sync failed | the commands that wait fail, later ones are refused, a checkpoint under way ends after its step, and a note beside the log says how much of it was acknowledged",
  },
  failed: {
    "closed -> absent":
      "no step of a checkpoint is under way | the log stays beside the file; the next start compares it with its checksums and its note, writes it again and syncs it",
  },
})

/** The state of a file's log; `absent` while the file is not open. */
export type LogState = (typeof LogTransitions)[number]["to"]

type LogTrigger = (typeof LogTransitions)[number]["trigger"]

/** The state of one open log, which moves only by the table. */
export class LogHealth {
  #state: LogState = "absent"

  get state(): LogState {
    return this.#state
  }

  /** Whether a sync failed: what the log holds on the disk is not known. */
  get isFailed(): boolean {
    return this.#state === "failed"
  }

  /** Moves on. Throws for a move that is not in the table, which is a defect. */
  apply(trigger: LogTrigger): void {
    this.#state = move(LogTransitions, this.#state, trigger)
  }
}

import { move, type Transition } from "@tocsin/contract/TransitionTable"
import type { CheckpointStep } from "./checkpointThread.ts"

/** Moves of the write-ahead log of one open file, from the first command to the end of the process. */
export const LogTransitions = [
  {
    from: "absent",
    trigger: "opened",
    condition:
      "every page of the log in use reads back with its checksum, and none that was acknowledged is missing",
    to: "healthy",
    effects: "the log starts over where no other process uses it",
  },
  {
    from: "absent",
    trigger: "refused",
    condition:
      "a page of the log in use does not read back, one that was acknowledged is missing, or a noted log cannot be written again and synced",
    to: "poisoned",
    effects: "the log stays as it is, with its note; the message says what to do",
  },
  {
    from: "healthy",
    trigger: "sync_started",
    condition: "a commit is not on the disk yet",
    to: "syncing",
    effects: "none",
  },
  {
    from: "syncing",
    trigger: "synced",
    condition: "the sync succeeded",
    to: "healthy",
    effects: "commands committed before the sync began are answered; the next sync begins if others wait",
  },
  {
    from: "syncing",
    trigger: "sync_failed",
    condition: "the sync failed",
    to: "failed",
    effects:
      "the commands that wait fail, later ones are refused, and a checkpoint under way ends after its step",
  },
  {
    from: "failed",
    trigger: "verification_started",
    condition: "no checkpoint is under way; repeated each second",
    to: "verifying",
    effects:
      "each page is read, compared with its checksum, written again and synced; then the log moves into the file",
  },
  {
    from: "verifying",
    trigger: "interrupted",
    condition: "the disk fails again, or another process holds a lock",
    to: "failed",
    effects: "none",
  },
  {
    from: "verifying",
    trigger: "kept",
    condition: "the log has moved into the file and cannot start over, because another process reads it",
    to: "failed",
    effects: "none",
  },
  {
    from: "verifying",
    trigger: "started_over",
    condition: "the log has moved into the file, which is synced, and starts over under a new salt",
    to: "restored",
    effects: "commands are taken again",
  },
  {
    from: "verifying",
    trigger: "spoiled",
    condition: "a page does not read back as it was written",
    to: "poisoned",
    effects:
      "how much of the log was acknowledged is noted beside it; the log stays as it is until the process ends",
  },
  {
    from: "restored",
    trigger: "sync_started",
    condition: "the first commit after the failure",
    to: "syncing",
    effects: "none",
  },
  {
    from: "healthy",
    trigger: "closed",
    condition: "all commands are answered",
    to: "absent",
    effects: "the last process that has the file open moves the log into it and removes the log",
  },
  {
    from: "restored",
    trigger: "closed",
    condition: "as above",
    to: "absent",
    effects: "as above",
  },
  {
    from: "failed",
    trigger: "closed",
    condition: "no step of a checkpoint is under way",
    to: "absent",
    effects: "the log stays beside the file; the next start reads it by its checksums",
  },
  {
    from: "poisoned",
    trigger: "closed",
    condition: "the process ends",
    to: "absent",
    effects: "the log stays beside the file, with the note",
  },
] as const satisfies ReadonlyArray<Transition>

/** The state of a file's log; `absent` while the file is not open. */
export type LogState = (typeof LogTransitions)[number]["to"]

type LogTrigger = (typeof LogTransitions)[number]["trigger"]

interface LogDuty {
  /** Whether commands run; otherwise they are refused. */
  readonly takesCommands: boolean
  /** What the checkpoint worker may do, in this order. */
  readonly steps: ReadonlyArray<CheckpointStep>
}

const CHECKPOINT: ReadonlyArray<CheckpointStep> = ["move", "start_over"]

/**
 * What each state allows. Where it allows no commands, closing the file leaves the log beside it,
 * because SQLite would move it into the file without checking its checksums.
 */
const LogDuties: { readonly [State in LogState]: LogDuty } = {
  absent: { takesCommands: false, steps: [] },
  healthy: { takesCommands: true, steps: CHECKPOINT },
  syncing: { takesCommands: true, steps: CHECKPOINT },
  failed: { takesCommands: false, steps: [] },
  verifying: { takesCommands: false, steps: ["verify", ...CHECKPOINT] },
  restored: { takesCommands: true, steps: CHECKPOINT },
  poisoned: { takesCommands: false, steps: [] },
}

/** The state of one open log, which moves only by the table. */
export class LogHealth {
  #state: LogState = "absent"

  get state(): LogState {
    return this.#state
  }

  /** What this state allows. */
  get duty(): LogDuty {
    return LogDuties[this.#state]
  }

  /** Moves on. Throws for a move that is not in the table, which is a defect. */
  apply(trigger: LogTrigger): void {
    this.#state = move(LogTransitions, this.#state, trigger)
  }
}

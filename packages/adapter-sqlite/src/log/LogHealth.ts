import { move } from "@tocsin/core/engine/TransitionTable"
import { LogDuties, type LogDuty, type LogState, LogTransitions, type LogTrigger } from "./LogTransitions.ts"

/** The state of one open log. It moves as its table says, and in no other way. */
export class LogHealth {
  #state: LogState = "absent"

  get state(): LogState {
    return this.#state
  }

  /** What is done in this state. */
  get duty(): LogDuty {
    return LogDuties[this.#state]
  }

  /** Moves on. Throws where the table has no such move, which is a defect. */
  apply(trigger: LogTrigger): void {
    this.#state = move(LogTransitions, this.#state, trigger)
  }
}

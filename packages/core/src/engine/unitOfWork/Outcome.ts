import type { Instant } from "@tocsin/contract/Instant"
import type { CommandChanges } from "./CommandChanges.ts"
import type { Command, Decision } from "./Decision.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"

/**
 * The outcome of a decision. Only `committed` hands out its reply, so that no storage can answer a
 * command without reporting its changes.
 */
export class Outcome<A> {
  /** The command's changes, without those of others on the same unit of work. */
  readonly changes: CommandChanges
  readonly #reply: A
  readonly #report: (changes: CommandChanges) => void

  constructor(reply: A, changes: CommandChanges, report: (changes: CommandChanges) => void) {
    this.changes = changes
    this.#reply = reply
    this.#report = report
  }

  /** Reports the changes, and returns the reply. To be called once: see `Storage.transact`. */
  committed(): A {
    this.#report(this.changes)
    return this.#reply
  }
}

/** The same command, for a storage that reports its changes to `report` as soon as they are committed. */
export const reporting =
  <A>(command: Command<A>, report: (changes: CommandChanges) => void): Command<Outcome<A>> =>
  (unit, now) =>
    decideReporting(unit, now, command, report)

function* decideReporting<A>(
  unit: UnitOfWork,
  now: Instant,
  command: Command<A>,
  report: (changes: CommandChanges) => void,
): Decision<Outcome<A>> {
  unit.beginCommand()
  const reply = yield* command(unit, now)
  return new Outcome(reply, unit.commandChanges(), report)
}

import type { Instant } from "@tocsin/contract/Instant"
import type { RowRequest } from "./RowRequest.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"
import type { CommandChanges } from "./Table.ts"

/**
 * A decision in progress, pure and synchronous. It yields requests for rows, continues once the
 * storage has loaded them into the unit of work, and returns the reply.
 */
export type Decision<A> = Generator<RowRequest, A, void>

/**
 * One change of the service's state, for Storage.transact. A storage may run it again on a fresh
 * unit of work after a transient failure, so it keeps no state outside.
 */
export type Command<A> = (unit: UnitOfWork, now: Instant) => Decision<A>

/**
 * Makes commands of one kind. A function that returned a new generator function for each command would
 * cost more than most commands: V8 gives each of these a hidden class, which keeps the command's input
 * alive until the old generation is collected (docs/decisions/0030).
 */
export const commandOf =
  <Input extends ReadonlyArray<unknown>, A>(
    decide: (unit: UnitOfWork, now: Instant, ...input: Input) => Decision<A>,
  ) =>
  (...input: Input): Command<A> =>
  (unit, now) =>
    decide(unit, now, ...input)

/** Runs a decision for a storage that loads synchronously. */
export const decideSync = <A>(decision: Decision<A>, load: (request: RowRequest) => void): A => {
  let step = decision.next()
  while (step.done !== true) {
    load(step.value)
    step = decision.next()
  }
  return step.value
}

/** Only `committed` hands out the reply: no storage can answer without reporting the changes. */
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

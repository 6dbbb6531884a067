import type { Instant } from "@tocsin/contract/formats/Instant"
import type { RowRequest } from "./RowRequest.ts"
import type { Search, SharedSearch } from "./Search.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"
import type { CommandChanges } from "./Table.ts"

/**
 * A decision in progress, pure and synchronous. It yields requests for rows, and continues once the storage has loaded
 * them into the unit of work; or searches, whose results it continues with. It returns the reply.
 */
export type Decision<A> = Generator<RowRequest | Search<SharedSearch>, A, unknown>

/** A decision that needs an unused unit of work, since its searches do not see the changes of one. */
export type LoneDecision<A> = Generator<Step, A, unknown>

export type Step = RowRequest | Search

/**
 * One change of the service's state, for Storage.transact. A storage may run it again on a fresh
 * unit of work after a transient failure, so it keeps no state outside. Lone ones share no transaction.
 */
export type Command<A> = ((unit: UnitOfWork, now: Instant) => Decision<A>) | LoneCommand<A>

export interface LoneCommand<A> {
  (unit: UnitOfWork, now: Instant): LoneDecision<A>
  readonly isLone: true
}

export const isLone = <A>(command: Command<A>): command is LoneCommand<A> => "isLone" in command

export const lone = <A>(command: (unit: UnitOfWork, now: Instant) => LoneDecision<A>): LoneCommand<A> =>
  Object.assign((unit: UnitOfWork, now: Instant) => command(unit, now), { isLone: true } as const)

/** Another command, which shares transactions if this one does. */
export const likewise = <A, B>(
  command: Command<A>,
  other: (unit: UnitOfWork, now: Instant) => LoneDecision<B>,
): Command<B> =>
  // It yields the steps of the first one.
  isLone(command) ? lone(other) : (other as (unit: UnitOfWork, now: Instant) => Decision<B>)

/**
 * Makes commands of one kind, which find their moment in the unit of work. A function that returned a
 * new generator function for each command would cost more than most commands: V8 gives each of these a
 * hidden class, which keeps the command's input alive until the old generation is collected
 * (docs/decisions/0030).
 */
export const commandOf =
  <Input extends ReadonlyArray<unknown>, A>(decide: (unit: UnitOfWork, ...input: Input) => Decision<A>) =>
  (...input: Input): Command<A> =>
  (unit, now) =>
    decide(unit.at(now), ...input)

export const loneCommandOf =
  <Input extends ReadonlyArray<unknown>, A>(decide: (unit: UnitOfWork, ...input: Input) => LoneDecision<A>) =>
  (...input: Input): Command<A> =>
    lone((unit, now) => decide(unit.at(now), ...input))

/** Runs a decision for a storage that answers synchronously: it loads rows, or returns what a search finds. */
export const decideSync = <A>(decision: LoneDecision<A>, answer: (step: Step) => unknown): A => {
  let step = decision.next()
  while (step.done !== true) step = decision.next(answer(step.value))
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
export const reporting = <A>(
  command: Command<A>,
  report: (changes: CommandChanges) => void,
): Command<Outcome<A>> => likewise(command, (unit, now) => decideReporting(unit, now, command, report))

function* decideReporting<A>(
  unit: UnitOfWork,
  now: Instant,
  command: Command<A>,
  report: (changes: CommandChanges) => void,
): LoneDecision<Outcome<A>> {
  unit.at(now).beginCommand()
  const reply = yield* command(unit, now)
  return new Outcome(reply, unit.commandChanges(), report)
}

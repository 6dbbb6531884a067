import { type Found, isSearch } from "@tocsin/core/kernel/unitOfWork/Search"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import type { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type Command, likewise, type Outcome } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { UnitOfWork, UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { CurrentOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Clock, Effect } from "effect"
import type { Service } from "../service/Service.ts"
import { lawsOfCommit } from "./laws.ts"
import { OPERATOR } from "./Servers.ts"
import type { Misread } from "./TypedService.ts"

/** A planted defect, which the simulation must find. */
export interface Defect {
  /** Spoils what a search found. */
  readonly spoils?: (
    found: Found<"claimableOutbox">,
    workspace: UnitOfWork,
    tables: MemoryTables,
  ) => Found<"claimableOutbox">
  /** Whether a command is answered, and its changes are not kept. */
  readonly loses?: (changes: UnitOfWorkChanges) => boolean
  /** Misreads the results of receivers of types. */
  readonly misread?: Misread
  /** Whether receivers of types take silent resolutions and do nothing. */
  readonly endsNoAlert?: boolean
}

/** The options of a storage in the simulation. */
export interface LawfulOptions {
  /** The storage's own clock, which grants leases. */
  readonly clock: Clock.Clock
  readonly service: () => Service
  readonly complain: (line: string) => void
  readonly say: (line: string) => void
  readonly counted: { commits: number }
  readonly defect: Defect
}

/** Carries the outcome of a command out of a transaction that is not kept. */
class Lost extends Error {
  readonly outcome: unknown
  constructor(outcome: unknown) {
    super("lost by a planted defect")
    this.outcome = outcome
  }
}

/** Tables in memory, shared by all servers, whose every commit is judged. */
export const lawfulStorage = (
  tables: MemoryTables,
  { clock, complain, counted, defect, say, service }: LawfulOptions,
): Storage["Service"] => {
  const memory = MemoryStorage.make(tables)

  const judge = (changes: UnitOfWorkChanges, isAct: boolean): void => {
    counted.commits += 1
    for (const { after, before } of changes.outbox)
      say(`outbox ${after?.receiver} ${after?.event_type} ${before?.state ?? "absent"} to ${after?.state}`)
    for (const { after, before } of changes.incident)
      if (before?.state !== after?.state || before?.severity !== after?.severity)
        say(`incident ${after?.incident_key} ${after?.state} ${after?.severity}`)
    const { receivers, rows } = service()
    const now = Instant.fromNanos(clock.currentTimeNanosUnsafe())
    const evidence = { isAct, now, outbox: rows().outbox, attempts: receivers.attempts }
    for (const line of lawsOfCommit(changes, evidence)) complain(line)
  }

  /** The command decides by its server's clock; what it finds goes by the storage's. */
  const judged = <A>(command: Command<A>, now: Instant.Instant, isAct: boolean): Command<A> =>
    likewise(command, function* (workspace) {
      const decision = command(workspace, now)
      let step = decision.next()
      while (step.done !== true) {
        const found = yield step.value
        const isClaim = isSearch(step.value, "claimableOutbox")
        // The storage finds this by its name.
        const claimable = found as Found<"claimableOutbox">
        step = decision.next(isClaim ? (defect.spoils?.(claimable, workspace, tables) ?? found) : found)
      }
      const changes = workspace.changes()
      if (defect.loses?.(changes) === true) throw new Lost(step.value)
      judge(changes, isAct)
      return step.value
    })

  return Storage.of({
    ...memory,
    transact: <A>(command: Command<Outcome<A>>) =>
      Effect.gen(function* () {
        const { name } = yield* CurrentOperator
        const now = yield* Instant.now
        return yield* memory.transact(judged(command, now, name === OPERATOR.name)).pipe(
          Effect.provideService(Clock.Clock, clock),
          Effect.catchDefect((defect) =>
            // The outcome of this command.
            defect instanceof Lost
              ? Effect.succeed((defect.outcome as Outcome<A>).committed())
              : Effect.die(defect),
          ),
        )
      }),
  })
}

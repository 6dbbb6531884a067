import * as Instant from "@tocsin/core/contract/Instant"
import type { StorageError } from "@tocsin/core/ports/Storage"
import type { Command } from "@tocsin/core/engine/workspace/Decision"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import { type Clock, Effect } from "effect"
import type { GroupScope } from "./GroupScope.ts"

const NANOS_PER_MICRO = 1_000n

/** A command from its arrival to the answer of its caller. */
export class Submission {
  readonly command: Command<unknown>
  readonly #clock: Clock.Clock
  readonly #resume: (answer: Effect.Effect<unknown, StorageError>) => void
  /** What it asked for first, once it has been looked at; `undefined` where it cannot share a transaction. */
  asked: GroupScope | undefined
  /** What it will ask for next, as far as cached rows tell. */
  predicted: RowRequest | undefined

  constructor(
    command: Command<unknown>,
    clock: Clock.Clock,
    resume: (answer: Effect.Effect<unknown, StorageError>) => void,
  ) {
    this.command = command
    this.#clock = clock
    this.#resume = resume
  }

  /** The moment of its decision, by the clock of its caller. */
  now(): Instant.Instant {
    return Instant.fromMicros(this.#clock.currentTimeNanosUnsafe() / NANOS_PER_MICRO)
  }

  /** Goes on with `answer` in the caller's own fiber. */
  answer(answer: Effect.Effect<unknown, StorageError>): void {
    this.#resume(answer)
  }

  /** Answers with the reply of its decision. */
  reply(reply: unknown): void {
    this.#resume(Effect.succeed(reply))
  }
}

/** A command that asked for a request of this kind first. */
export type Asking<Asked extends GroupScope> = Submission & { readonly asked: Asked }

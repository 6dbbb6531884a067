import { type Context, Effect, Exit, type Fiber } from "effect"
import type { Outcome, Reply } from "../Reply.ts"
import { type AnyCallCode, TocsinError } from "../TocsinError.ts"
import { type CallError, causeToTocsinError, type CodeOf } from "./CallError.ts"

/** The reply to a call that can fail with `E`. */
type ReplyOf<A, E extends CallError> = Reply<A, CodeOf<E> | AnyCallCode>

/** The refusal of a monitor that is closed. */
export const closed = (): TocsinError<"closed"> =>
  new TocsinError("closed", "the monitor is closed; make another with createMonitor")

/** Runs the calls of one monitor, and knows which are under way. */
export class Calls<Services> {
  readonly #run: <A, E>(effect: Effect.Effect<A, E, Services>) => Fiber.Fiber<A, E>
  readonly #underWay = new Set<Fiber.Fiber<unknown, unknown>>()
  #isClosed = false
  #onIdle: (() => void) | undefined

  constructor(services: Context.Context<Services>) {
    this.#run = Effect.runForkWith(services)
  }

  /** Whether calls are no longer taken. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Answers a call. */
  readonly reply = <A, E extends CallError>(effect: Effect.Effect<A, E, Services>): ReplyOf<A, E> => {
    const outcome = this.#outcomeOf(effect)
    const value = outcome.then((settled) => {
      if (settled.ok) return settled.value
      throw settled.error
    })
    return Object.assign(value, {
      outcome: () => {
        // Who asks for the outcome has been told of the error.
        value.catch(() => {})
        return outcome
      },
    })
  }

  /** Takes no more calls, waits for those under way for at most so long, then interrupts what is left. */
  async close(limitMillis: number): Promise<void> {
    this.#isClosed = true
    if (this.#underWay.size === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMillis)
      this.#onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    for (const fiber of this.#underWay) fiber.interruptUnsafe()
  }

  #outcomeOf<A, E extends CallError>(
    effect: Effect.Effect<A, E, Services>,
  ): Promise<Outcome<A, CodeOf<E> | AnyCallCode>> {
    return new Promise((resolve) => {
      // The codes are those of the effect's errors, by the same table; an index by a tag loses that tie.
      const fail = (error: TocsinError) =>
        resolve({ ok: false, error } as Outcome<A, CodeOf<E> | AnyCallCode>)
      if (this.#isClosed) return fail(closed())
      const fiber = this.#run(effect)
      this.#underWay.add(fiber)
      fiber.addObserver((exit) => {
        this.#underWay.delete(fiber)
        if (Exit.isSuccess(exit)) resolve({ ok: true, value: exit.value })
        else fail(causeToTocsinError(exit.cause))
        if (this.#underWay.size === 0) this.#onIdle?.()
      })
    })
  }
}

import { Effect, Exit, type Fiber, Scope } from "effect"
import type { ChangeBuffer } from "./ChangeBuffer.ts"
import type { IncidentChange } from "./IncidentChange.ts"

/** A subscription as an iterator, from when it is made until it is returned or aborted, or the monitor closes. */
export class LiveChanges<Change> implements AsyncIterableIterator<Change, undefined> {
  readonly #toChange: (change: IncidentChange) => Change
  readonly #scope = Scope.makeUnsafe()
  readonly #buffer: ChangeBuffer
  readonly #signal: AbortSignal | undefined
  #taking: Fiber.Fiber<unknown, unknown> | undefined
  #last: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(
    subscribe: Effect.Effect<ChangeBuffer, never, Scope.Scope>,
    toChange: (change: IncidentChange) => Change,
    signal?: AbortSignal,
  ) {
    this.#toChange = toChange
    this.#buffer = Effect.runSync(Scope.provide(subscribe, this.#scope))
    this.#signal = signal
    if (signal?.aborted) this.#end()
    else signal?.addEventListener("abort", this.#end, { once: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Takes the next change, or waits for one. Calls that overlap are answered in their order. */
  next(): Promise<IteratorResult<Change, undefined>> {
    const next = this.#last.then(() => this.#take())
    this.#last = next
    return next
  }

  return(): Promise<IteratorResult<Change, undefined>> {
    this.#end()
    return Promise.resolve({ done: true, value: undefined })
  }

  #take(): Promise<IteratorResult<Change, undefined>> {
    return new Promise((resolve) => {
      if (this.#isOver) return resolve({ done: true, value: undefined })
      const fiber = Effect.runFork(this.#buffer.take)
      this.#taking = fiber
      fiber.addObserver((exit) => {
        this.#taking = undefined
        if (Exit.isSuccess(exit)) return resolve({ done: false, value: this.#toChange(exit.value) })
        this.#end()
        resolve({ done: true, value: undefined })
      })
    })
  }

  readonly #end = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    // A signal may outlive many subscriptions.
    this.#signal?.removeEventListener("abort", this.#end)
    Effect.runFork(Scope.close(this.#scope, Exit.void))
    this.#taking?.interruptUnsafe()
  }
}

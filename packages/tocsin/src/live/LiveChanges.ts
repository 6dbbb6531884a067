import type { TopicsChanged } from "@tocsin/client/Resources"
import * as Instant from "@tocsin/contract/formats/Instant"
import { topicNames } from "@tocsin/contract/liveViews/topicNames"
import type { RateLimited } from "@tocsin/core/heart/admission/AdmissionErrors"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { TopicFeed, type UnreadTopics } from "@tocsin/core/heart/usecases/TopicFeed"
import { within } from "@tocsin/reporting/program/Platform"
import { Cause, Context, Effect, Exit, type Fiber, Pull, Result, Scope } from "effect"
import { type CallError, causeToTocsinError } from "../api/Calls.ts"
import type { IncidentNews } from "./IncidentFeed.ts"
import type { ProgramCallbacks } from "./ProgramCallbacks.ts"

export type Take<Change> = Effect.Effect<Change, Cause.Done | CallError>

/** A subscription as an iterator. It ends by `return`, by its signal or when the monitor closes. */
export class LiveChanges<Change> implements AsyncIterableIterator<Change, undefined> {
  readonly #scope = Scope.makeUnsafe()
  readonly #nextChange: Take<Change>
  readonly #signal: AbortSignal | undefined
  #taking: Fiber.Fiber<unknown, unknown> | undefined
  #last: Promise<unknown> = Promise.resolve()
  #isOver = false

  /** `subscribe` gives what takes the next change, which is called again after each. */
  constructor(subscribe: Effect.Effect<Take<Change>, never, Scope.Scope>, signal?: AbortSignal) {
    this.#nextChange = Effect.runSync(Scope.provide(subscribe, this.#scope))
    this.#signal = signal
    if (signal?.aborted) this.#end()
    else signal?.addEventListener("abort", this.#end, { once: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Takes the next change, or waits for one. Calls that overlap are answered in their order. */
  next(): Promise<IteratorResult<Change, undefined>> {
    const take = () => this.#take()
    const next = this.#last.then(take, take)
    this.#last = next
    return next
  }

  return(): Promise<IteratorResult<Change, undefined>> {
    this.#end()
    return Promise.resolve({ done: true, value: undefined })
  }

  #take(): Promise<IteratorResult<Change, undefined>> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return resolve({ done: true, value: undefined })
      const fiber = Effect.runFork(this.#nextChange)
      this.#taking = fiber
      fiber.addObserver((exit) => {
        this.#taking = undefined
        if (Exit.isSuccess(exit)) return resolve({ done: false, value: exit.value })
        const failed = Pull.filterNoDone(exit.cause)
        if (this.#isOver || Result.isFailure(failed)) resolve({ done: true, value: undefined })
        else reject(causeToTocsinError(failed.success))
        this.#end()
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

type Changes = LiveChanges<IncidentNews>

/** The callbacks of one monitor; each gets one change after another. */
export class IncidentCallbacks {
  readonly #subscribe: () => Changes
  readonly #callbacks: ProgramCallbacks
  readonly #onFailure: (cause: unknown) => void
  readonly #following = new Map<Changes, Promise<void>>()

  constructor(subscribe: () => Changes, callbacks: ProgramCallbacks, onFailure: (cause: unknown) => void) {
    this.#subscribe = subscribe
    this.#callbacks = callbacks
    this.#onFailure = onFailure
  }

  /** Calls back with each change; the result ends it. */
  add(callback: (change: IncidentNews) => unknown): () => void {
    const changes = this.#subscribe()
    const done = this.#follow(changes, callback).finally(() => this.#following.delete(changes))
    this.#following.set(changes, done)
    return () => void changes.return()
  }

  /** Does not wait any more for the function of the program that calls this. */
  readonly leave = (): void => this.#callbacks.leave()

  /** Waits up to a limit for callbacks under way, then ends them all. */
  async finish(limitMillis: number): Promise<void> {
    await within(limitMillis, Promise.all(this.#following.values()))
    for (const changes of this.#following.keys()) void changes.return()
  }

  async #follow(changes: Changes, callback: (change: IncidentNews) => unknown): Promise<void> {
    for await (const change of changes) {
      try {
        await this.#callbacks.run(() => callback(change), undefined)
      } catch (cause) {
        this.#onFailure(cause)
      }
    }
  }
}

/**
 * The topics to fetch again: every topic first, then the changed ones. The first take counts as a
 * stream of this process, until the scope closes. Done when the monitor closes.
 */
export const topicChanges = (
  services: Context.Context<TopicFeed | Readiness>,
): Effect.Effect<Effect.Effect<TopicsChanged, Cause.Done | RateLimited>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let unread: UnreadTopics | undefined
    const begin = Effect.gen(function* () {
      const { open } = Context.get(services, TopicFeed)
      unread = yield* Scope.provide(open(), scope)
      return { topics: topicNames, at: yield* Instant.now }
    })
    const take = Effect.suspend(() =>
      unread === undefined ? begin : Effect.andThen(unread.some, unread.take),
    )
    const closing = Effect.andThen(Context.get(services, Readiness).draining, Cause.done())
    return Effect.raceFirst(
      closing,
      Effect.map(take, ({ topics, at }): TopicsChanged => ({ topics, at: Instant.format(at) })),
    ).pipe(Effect.provide(services))
  })

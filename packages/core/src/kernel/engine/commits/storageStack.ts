import { Clock, type Context, Duration, Effect, Fiber, Layer, Semaphore, Tracer } from "effect"
import { Storage, StorageError } from "../../ports/Storage.ts"
import { type Submit, submitOf, withSubmit } from "../../ports/Submit.ts"
import { Commits, isSuccess } from "./Commits.ts"
import { CurrentOperator } from "../../ports/CurrentOperator.ts"
import { LinkedQueue } from "../LinkedQueue.ts"

/**
 * The layers between the use cases and a storage, from the outside in. No caller waits longer than
 * `limit`.
 *
 * | layer | adds | its place |
 * |---|---|---|
 * | `Commits` | listeners | outermost: it reports the failures that callers get, time-outs included |
 * | `boundedStorage` | a time limit, and a limit of reads for requests | around the spans: a span shows how long the storage took, not how long a caller waited |
 * | `tracedStorage` | spans | innermost: spans contain no wait of a layer |
 */
export const storageStack = (limit: Duration.Duration): Layer.Layer<Commits | Storage, never, Storage> =>
  Commits.layer.pipe(Layer.provideMerge(boundedStorage(limit)), Layer.provide(tracedStorage))

const spanOf =
  (name: string, attributes: Readonly<Record<string, string>> = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber(({ cache }) =>
      // A span of an unsampled trace costs nothing.
      cache.span?.sampled === false
        ? effect
        : Effect.withSpan(effect, `Storage.${name}`, { attributes, captureStackTrace: false }),
    )

/** Makes spans of transactions and reads; without a tracer, the storage itself. */
const tracedStorage: Layer.Layer<Storage, never, Storage> = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    if ((yield* Tracer.Tracer) === Tracer.nativeTracer) return storage
    return Storage.of({
      ...storage,
      // Until the command is durable, which includes its wait for a group.
      transact: (command) => spanOf("transact")(storage.transact(command)),
      page: (request) => spanOf("page", { "tocsin.list": request.list })(storage.page(request)),
      agent: (agentId) => spanOf("agent")(storage.agent(agentId)),
      check: (agentId, checkId) => spanOf("check")(storage.check(agentId, checkId)),
      incident: (id, limits) => spanOf("incident")(storage.incident(id, limits)),
      counts: (...asked) => spanOf("counts")(storage.counts(...asked)),
      metricCounts: spanOf("metricCounts")(storage.metricCounts),
    })
  }),
)

/** A timer that fires later by this shows that the process stood still: the storage had no chance to answer. */
const LATE = Duration.seconds(1)

const timedOut = (late: Duration.Duration): StorageError => {
  const message = Duration.isLessThan(late, LATE)
    ? "the storage did not answer in time; check its load, disk, locks and synchronous standbys"
    : `the process did nothing for at least ${Math.floor(Duration.toSeconds(late))} s, and took no answer of the storage: look for work that blocks it, such as that of an extension or SQLite on a slow disk, or for a paused machine`
  return new StorageError({ reason: "timed_out", message })
}

/**
 * How many reads of requests run at a time. A pool of PostgreSQL has 10 connections: the others are
 * for commands and for Tocsin's own work, however many readers wait. SQLite's reads are synchronous, so there it
 * bounds how many wait in the stack.
 */
const READERS = 6

/**
 * A storage of which no caller waits longer than `limit` (SERVICE_STORAGE_TIMEOUT,
 * docs/rules.md#failures-of-the-storage). A command that was abandoned may still commit: its
 * caller gets a failure, and repeats it if it is safe to repeat.
 */
export const boundedStorage = (limit: Duration.Duration) =>
  Layer.effect(
    Storage,
    Effect.gen(function* () {
      const storage = yield* Storage
      const deadlines = new Deadlines(limit)
      const bounded = <A>(effect: Effect.Effect<A, StorageError>) => within(effect, deadlines)
      const submit = submitOf(storage.transact)
      const context = yield* Effect.context<never>()
      const readers = yield* Semaphore.make(READERS)
      const read = <A>(effect: Effect.Effect<A, StorageError>) => {
        const asReader = readers.withPermit(effect)
        return Effect.withFiber<A, StorageError>((caller) =>
          bounded(caller.getRef(CurrentOperator).request_id === undefined ? effect : asReader),
        )
      }
      return Storage.of({
        ...storage,
        transact: withSubmit(
          (command) => bounded(storage.transact(command)),
          submit && boundedSubmit(submit, deadlines, context),
        ),
        page: (request) => read(storage.page(request)),
        agent: (agentId) => read(storage.agent(agentId)),
        check: (agentId, checkId) => read(storage.check(agentId, checkId)),
        incident: (id, limits) => read(storage.incident(id, limits)),
        serviceHeartbeat: bounded(storage.serviceHeartbeat),
        replicas: bounded(storage.replicas),
        policyVersions: (...range) => bounded(storage.policyVersions(...range)),
        operatorOfToken: (hash) => bounded(storage.operatorOfToken(hash)),
        dueRows: (name, request) => bounded(storage.dueRows(name, request)),
        rows: (name, keys) => read(storage.rows(name, keys)),
        checks: (checks) => read(storage.checks(checks)),
        lastResults: (members) => bounded(storage.lastResults(members)),
        settledHistory: (...asked) => read(storage.settledHistory(...asked)),
        settledIncidents: read(storage.settledIncidents),
        counts: (...asked) => read(storage.counts(...asked)),
        metricCounts: bounded(storage.metricCounts),
        staleAgents: (...asked) => bounded(storage.staleAgents(...asked)),
        agentsWithPendingKey: (after, limitOfAgents) =>
          bounded(storage.agentsWithPendingKey(after, limitOfAgents)),
        expire: (piece) => bounded(storage.expire(piece)),
        untilNextDue: (receivers, now) => bounded(storage.untilNextDue(receivers, now)),
        establish: (name, value) => bounded(storage.establish(name, value)),
        numbers: storage.numbers && boundedNumbers(storage.numbers, { bounded, read }),
      })
    }),
  )

type Bound = <A>(effect: Effect.Effect<A, StorageError>) => Effect.Effect<A, StorageError>

type Numbers = NonNullable<Storage["Service"]["numbers"]>

const boundedNumbers = (
  numbers: Numbers,
  { bounded, read }: { readonly bounded: Bound; readonly read: Bound },
): Numbers => ({
  series: (of) => read(numbers.series(of)),
  own: (server, parts) => bounded(numbers.own(server, parts)),
  write: (server, parts) => bounded(numbers.write(server, parts)),
  endSeries: (series) => bounded(numbers.endSeries(series)),
  parts: (query) => read(numbers.parts(query)),
  fold: (parts) => bounded(numbers.fold(parts)),
  expire: (expiry) => bounded(numbers.expire(expiry)),
  expireSeries: (bounds) => bounded(numbers.expireSeries(bounds)),
})

type OnTimeout = (failure: StorageError) => void

/** Callers whose time began at nearly the same moment, and the one timer for all of them. */
interface Deadline {
  readonly openedAt: bigint
  readonly onTimeout: LinkedQueue<OnTimeout>
  readonly timer: Fiber.Fiber<void>
}

/** The part of its time that a caller may lose by sharing a timer: one for each request would cost more. */
const SHARED_PART = 100n

/** The clock by which a caller measures time, and the services of its timers. */
interface Timing {
  readonly clock: Clock.Clock
  readonly context: Context.Context<never>
}

const timingOf = (caller: Fiber.Fiber<unknown, unknown>): Timing => ({
  clock: caller.getRef(Clock.Clock),
  context: caller.context,
})

class Deadlines {
  #current: Deadline | undefined
  readonly #limit: Duration.Duration
  readonly #sharedNanos: bigint

  constructor(limit: Duration.Duration) {
    this.#limit = limit
    this.#sharedNanos = Duration.toNanosUnsafe(limit) / SHARED_PART
  }

  /** Calls `onTimeout` once the caller's time is over, unless the returned function is called before. */
  begin(caller: Timing, onTimeout: OnTimeout): () => void {
    const now = caller.clock.monotonicTimeNanosUnsafe()
    const isShared = this.#current !== undefined && now - this.#current.openedAt < this.#sharedNanos
    const deadline = isShared && this.#current ? this.#current : this.#open(caller, now)
    const place = deadline.onTimeout.add(onTimeout)
    return () => {
      place.leave()
      if (deadline.onTimeout.size > 0) return
      // An open timer would keep a process that has ended its work from ending.
      deadline.timer.interruptUnsafe()
      if (this.#current === deadline) this.#current = undefined
    }
  }

  #open({ clock, context }: Timing, openedAt: bigint): Deadline {
    const onTimeout = new LinkedQueue<OnTimeout>()
    const end = Effect.sync(() => {
      const elapsed = Duration.nanos(clock.monotonicTimeNanosUnsafe() - openedAt)
      const failure = timedOut(Duration.subtract(elapsed, this.#limit))
      for (const call of Array.from(onTimeout)) call(failure)
    })
    const timer = Effect.runForkWith(context)(Effect.andThen(Effect.sleep(this.#limit), end))
    this.#current = { openedAt, onTimeout, timer }
    return this.#current
  }
}

/**
 * Unlike Effect.timeout does not wait for the end of what it interrupts: a statement is cancelled
 * on a database that does not answer, and that takes as long again. Interrupted itself, it does
 * wait: the storage may be closed after it.
 */
const within = <A>(effect: Effect.Effect<A, StorageError>, deadlines: Deadlines) =>
  Effect.withFiber<A, StorageError>((caller) => {
    const work = Effect.runForkWith(caller.context)(effect)
    const ended = work.pollUnsafe()
    // Memory answers immediately.
    if (ended !== undefined) return ended
    return Effect.callback((resume) => {
      const end = deadlines.begin(timingOf(caller), (failure) => {
        resume(Effect.fail(failure))
        work.interruptUnsafe()
      })
      work.addObserver((exit) => {
        end()
        resume(exit)
      })
      return Fiber.interrupt(work)
    })
  })

/** The same for a caller without a fiber. */
const boundedSubmit =
  (submit: Submit, deadlines: Deadlines, context: Context.Context<never>): Submit =>
  (command, clock, resume) => {
    let hasEnded = false
    let end = (): void => {}
    const withdraw = submit(command, clock, (ended) => {
      if (hasEnded) return
      hasEnded = true
      end()
      // The rest of a command that is decided again, alone, takes its time from here.
      resume(isSuccess(ended) ? ended : within(ended, deadlines))
    })
    // Memory answers immediately.
    if (hasEnded) return withdraw
    end = deadlines.begin({ clock, context }, (failure) => {
      hasEnded = true
      resume(Effect.fail(failure))
      withdraw()
    })
    return () => {
      hasEnded = true
      end()
      withdraw()
    }
  }

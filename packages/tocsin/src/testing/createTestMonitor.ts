import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import type { DurationOption } from "@tocsin/client"
import * as Instant from "@tocsin/contract/formats/Instant"
import { givenExpected, givenMillis } from "@tocsin/contract/formats/durationMillis"
import { Receivers } from "@tocsin/core/heart/notifications/Receivers"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import type { CommandChanges } from "@tocsin/core/kernel/unitOfWork/Table"
import { IdlePause } from "@tocsin/core/kernel/ports/IdlePause"
import { countingIds, Ids } from "@tocsin/core/kernel/ports/Ids"
import { type Notifier, Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { NO_TOPICS } from "@tocsin/core/kernel/topics/Topics"
import { Clock, Context, Effect, Layer, Random, Scheduler, Scope } from "effect"
import type { Monitor } from "../Monitor.ts"
import { TocsinError } from "../TocsinError.ts"
import { assemble, start } from "../createMonitor.ts"
import type { CustomNotifier, Notification } from "../notifiers/CustomNotifier.ts"
import type { MonitorOptions } from "../options/MonitorOptions.ts"
import { logLayer } from "../options/log.ts"
import { readOptions } from "../options/readOptions.ts"
import { memory } from "../storages/storages.ts"
import { realTurns, Settling } from "./Settling.ts"
import { SteppedClock } from "./SteppedClock.ts"
import { advance, type IdleWork, nextDue, skipWait } from "./advance.ts"

const SEED = "tocsin"

/** The same random numbers in every run, however often idle loops drew before. */
const momentRandom = (currentNanos: () => bigint): typeof Random.Random.Service => {
  let moment: bigint | undefined
  let source: typeof Random.Random.Service | undefined
  const ofMoment = () => {
    const now = currentNanos()
    if (source === undefined || moment !== now) {
      moment = now
      source = Effect.runSync(Random.withSeed(Random.Random, `${SEED} ${now}`))
    }
    return source
  }
  return {
    nextIntUnsafe: () => ofMoment().nextIntUnsafe(),
    nextDoubleUnsafe: () => ofMoment().nextDoubleUnsafe(),
  }
}

/** A monitor's options without the storage, which is memory. */
export interface TestMonitorOptions extends Omit<MonitorOptions, "storage"> {
  /** Where its clock starts; 2026-01-01T00:00:00.000Z unless given. */
  readonly startAt?: string | undefined
}

/** A monitor whose clock stands still until the test moves it. */
export interface TestMonitor extends Monitor {
  /**
   * Moves the clock, and does on the way what is due, each at its moment: sending, retries, retention. The
   * same calls give the same ids, times and retries in every run. Ninety quiet days take a few seconds.
   *
   * @example
   * ```ts
   * await monitor.advance("5m")
   * expect(monitor.notifications.at(-1)?.text).toContain("CRITICAL")
   * ```
   */
  readonly advance: (time: DurationOption) => Promise<void>
  /** Does what is due now, such as sending the notifications of the last call. An attempt has a second of real time. */
  readonly settle: () => Promise<void>
  /** The time of its clock, for `observed_at`. */
  readonly now: () => string
  /** All notifications so far, in the order of sending. Tests may empty it. */
  readonly notifications: Array<Notification>
}

const START = "2026-01-01T00:00:00.000Z"
const NANOS_PER_MICRO = 1_000n
const NANOS_PER_MILLI = 1_000_000n

/**
 * Starts a monitor for a test: in memory, on its own clock, and without a log unless `log` is given. A
 * notifier named `debug` captures its notifications.
 *
 * @example
 * ```ts
 * await using monitor = await createTestMonitor({ deadAfter: "10m" })
 * await monitor.heartbeat("key", { ...heartbeat, observed_at: monitor.now() })
 * await monitor.agents.acceptAll()
 * await monitor.advance("11m")
 * assert.equal(monitor.notifications.length, 1)
 * ```
 */
export const createTestMonitor = (options: TestMonitorOptions = {}): Promise<TestMonitor> =>
  makeTestMonitor(options, nextDue)

/** A test monitor whose idle loops sleep until something is due, with other notifiers of some names. */
export const makeTestMonitor = async (
  { startAt = START, notifiers = [], log = false, ...options }: TestMonitorOptions,
  dueOf: typeof nextDue,
  instead: Readonly<Record<string, Notifier>> = {},
  ids: Layer.Layer<Ids> = Layer.sync(Ids, countingIds),
): Promise<TestMonitor> => {
  const clock = clockFrom(startAt)
  const settling = new Settling(clock)
  const notifications: Array<Notification> = []
  const capture: CustomNotifier = { name: "debug", send: (sent) => void notifications.push(sent) }
  const tables = new MemoryTables()
  const storage = MemoryStorage.make(tables)
  const read = readOptions({
    ...options,
    storage: memory(),
    // An invalid value is refused by its place in the options.
    notifiers: Array.isArray(notifiers) ? [...notifiers, capture] : notifiers,
  })
  const { services, scope } = await start(
    {
      ...read,
      tocsin: {
        ...read.tocsin,
        storage: Layer.succeed(Storage, storage),
        notifiers: read.tocsin.notifiers && followed(read.tocsin.notifiers, settling, instead),
        clock: deterministic(clock),
        ids,
      },
    },
    logLayer(log),
  )
  await settling.settle()
  const lastChange = followChanges(Context.get(services, Commits), clock, scope)
  const receivers = Context.get(services, Receivers)
  const idle: IdleWork = {
    tables,
    storage,
    notifiers: () => Array.from(receivers.current().keys()),
    silent: read.keepsHouse ? { ...defaultRules, ...read.tocsin.rules } : undefined,
  }
  const dueFrom = (now: Instant.Instant, began: Instant.Instant) =>
    Effect.runSync(dueOf(idle, now, Instant.max(began, lastChange())))
  // One after another: the clock goes only forward.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (move: () => Promise<void>): Promise<void> => {
    const moved = last.then(move)
    last = moved.catch(() => {})
    return moved
  }
  const monitor = assemble(read, services, scope)
  // Its time limits are the clock's, which nothing else moves by then.
  const close = async () => {
    let isClosed = false
    const closing = monitor.close().finally(() => {
      isClosed = true
    })
    while (!isClosed) await inTurn(() => skipWait({ clock, settling }))
    await closing
  }
  return {
    ...monitor,
    close,
    [Symbol.asyncDispose]: close,
    advance: async (time) => {
      const nanos = lengthOf(time)
      await inTurn(() => advance({ clock, settling, tables, dueFrom }, nanos))
    },
    settle: () => inTurn(() => settling.settle()),
    now: () => Instant.format(Effect.runSync(Effect.provideService(Instant.now, Clock.Clock, clock))),
    notifications,
  }
}

/** Time, chance and idle loops by the clock, and fibers in real turns. */
const deterministic = (clock: SteppedClock) =>
  Layer.mergeAll(
    Layer.succeed(Clock.Clock, clock),
    Layer.succeed(
      Random.Random,
      momentRandom(() => clock.currentTimeNanosUnsafe()),
    ),
    Layer.succeed(IdlePause, clock.idle),
    Layer.succeed(Scheduler.Scheduler, realTurns),
  )

/** Notifiers whose attempts {@link Settling} waits for. */
const followed = <E, R>(
  notifiers: Layer.Layer<Notifiers, E, R>,
  settling: Settling,
  instead: Readonly<Record<string, Notifier>>,
) => {
  const follow = (notifier: Notifier): Notifier => ({
    ...notifier,
    send: (notification) =>
      Effect.acquireUseRelease(
        Effect.sync(settling.begin),
        () => notifier.send(notification),
        (end) => Effect.sync(end),
      ),
  })
  return Layer.effect(
    Notifiers,
    Effect.map(
      Notifiers,
      (made) => new Map(Array.from(made, ([name, notifier]) => [name, follow(instead[name] ?? notifier)])),
    ),
  ).pipe(Layer.provide(notifiers))
}

const clockFrom = (startAt: string): SteppedClock => {
  const started = typeof startAt === "string" ? Instant.parse(startAt) : undefined
  if (started !== undefined) return new SteppedClock(Number((started * NANOS_PER_MICRO) / NANOS_PER_MILLI))
  throw new TocsinError("options", "startAt must be an instant such as 2026-01-01T00:00:00Z")
}

/** When a change was last committed that a view shows. */
const followChanges = ({ listen }: Commits["Service"], clock: SteppedClock, scope: Scope.Scope) => {
  let last = Instant.fromMicros(0n)
  const committed = ({ topics }: CommandChanges): void => {
    if (topics !== NO_TOPICS) last = Instant.fromNanos(clock.currentTimeNanosUnsafe())
  }
  Effect.runSync(Scope.provide(listen({ committed }), scope))
  return () => last
}

const lengthOf = (time: DurationOption): bigint => {
  const millis = givenMillis(time, { min: 0 })
  if (millis !== undefined) return BigInt(millis) * NANOS_PER_MILLI
  throw new TocsinError("options", `advance takes ${givenExpected({ min: 0 })}`)
}

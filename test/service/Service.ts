import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { PieceSizes } from "@tocsin/core/kernel/engine/lists/readPage"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { Receivers as CurrentReceivers } from "@tocsin/core/heart/notifications/Receivers"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { IdlePause } from "@tocsin/core/kernel/ports/IdlePause"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { defaultRules, RuleSettings, type RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { WatchProbes } from "@tocsin/core/kernel/ports/WatchProbes"
import { NO_TOPICS, type Topics } from "@tocsin/core/kernel/topics/Topics"
import { Admission } from "@tocsin/core/lists/Admission"
import * as Delivery from "@tocsin/core/heart/usecases/Delivery"
import { MostSeries, NumberMemory } from "@tocsin/core/features/numbers/NumberMemory"
import {
  defaultRetention,
  Retention,
  type RetentionOptions,
} from "@tocsin/core/kernel/engine/commits/Retention"
import * as Housekeeping from "@tocsin/core/lists/Housekeeping"
import { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import { Operations, Queries } from "tocsin/internal/layers/Operations"
import { OutboxSignal } from "@tocsin/core/heart/notifications/OutboxSignal"
import { Integrations } from "@tocsin/core/features/integrations/Integrations"
import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { Operators } from "@tocsin/core/heart/usecases/Operators"
import { recordNumbers } from "@tocsin/core/features/numbers/recordNumbers"
import * as Replicas from "@tocsin/core/heart/usecases/Replicas"
import { monthlyReports } from "@tocsin/core/features/report/monthlyReports"
import { ReplicaIdentity } from "@tocsin/core/heart/usecases/Replicas"
import * as WatchRunner from "@tocsin/core/features/watches/WatchRunner"
import { Context, Duration, Effect, Exit, Fiber, Layer, PubSub, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { START_MILLIS } from "@tocsin/testing/samples"
import * as SeededIds from "@tocsin/testing/SeededIds"
import { type Faults, faultyStorage } from "./FaultyStorage.ts"
import { makeReceivers, type Receivers, type ReceiversOptions } from "./Receivers.ts"
import { settled } from "./settled.ts"
import { type OutboxMove, type WatchedStorage, watchStorage } from "./WatchedStorage.ts"

/**
 * One process of the service: its use cases and its background work, on its own connection to the
 * storage.
 */
export interface Process {
  readonly name: string
  readonly rules: RuleOptions
  readonly storage: Storage["Service"]
  readonly commits: Commits["Service"]
  readonly policy: PolicyInForce["Service"]
  readonly ingest: Ingest["Service"]
  readonly admission: Admission["Service"]
  readonly operations: Operations["Service"]
  readonly queries: Queries["Service"]
  readonly signal: OutboxSignal["Service"]
  readonly faults: Faults
  /** From now on it sends to these receivers only, as after a reload. */
  readonly sendsTo: (...receivers: ReadonlyArray<NotifierName>) => Effect.Effect<void>
  /** Shuts it down. Takes time by the clock while attempts are running. */
  readonly close: Effect.Effect<void>
}

/** How a process is set up; absent fields are as in production. */
export interface ProcessOptions {
  /** The notifiers that it is configured for; those of its settings by default. */
  readonly configured?: ReadonlyArray<NotifierName>
  readonly lease?: Duration.Duration
  readonly concurrency?: number
  readonly delivers?: boolean
  /** Whether it marks, sweeps and expires rows; it does not by default. */
  readonly keepsHouse?: boolean
  readonly retention?: Partial<RetentionOptions>
  /** How many series of numbers it keeps; as in production by default. */
  readonly mostSeries?: number
  /** How many rows and incidents each piece of background work takes; as in production by default. */
  readonly pieceSize?: number
  /** Whether it sends reports of months; it does not by default. */
  readonly sendsReports?: boolean
  /** Whether it reports itself to the others; it does not by default. */
  readonly reports?: boolean
  /** How it probes watches; it has none by default. */
  readonly probes?: WatchProbes
  /** Changes of the settings that its rules depend on. */
  readonly rules?: Partial<RuleOptions>
}

/**
 * A service on virtual time: processes that share a storage, and the receivers of their
 * notifications.
 */
export interface Service extends Pick<WatchedStorage, "rows" | "moves"> {
  readonly receivers: Receivers
  readonly hashing: Hashing["Service"]
  readonly ids: Ids["Service"]
  readonly open: (name: string, options?: ProcessOptions) => Effect.Effect<Process>
  /**
   * Lets time pass. From half an hour on, idle loops look once a minute, and not every few
   * seconds, except in the last minute of it.
   */
  readonly passes: (time: Duration.Input) => Effect.Effect<void>
}

/** How a service differs from the default rules, without rate limits, over the memory storage. */
export interface ServiceOptions extends Partial<RuleOptions>, ReceiversOptions {
  readonly onMove?: (move: OutboxMove) => void
  /**
   * Whether the storage hints to other processes that something was enqueued; it does not by
   * default. A list has the hints to each change in turn, by the milliseconds until they arrive.
   */
  readonly hints?: boolean | ReadonlyArray<ReadonlyArray<number>>
  /** The shared storage. */
  readonly storage?: Storage["Service"]
  /** The source of IDs of all processes. */
  readonly ids?: Ids["Service"]
  /** The least pause of idle loops, or of one that begins now; theirs by default. */
  readonly idleFor?: Duration.Duration | (() => Duration.Duration)
  /** Changes the storage as the processes see it. */
  readonly clientOf?: (storage: Storage["Service"]) => Storage["Service"]
}

/** Runs an effect that takes time by the clock, and moves the clock until it is done. */
export const whileTimePasses = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(effect)
  for (let seconds = 0; fiber.pollUnsafe() === undefined; seconds++) {
    yield* settled
    if (fiber.pollUnsafe() !== undefined) break
    if (seconds > MOST_SECONDS) return yield* Effect.die(new Error(`it takes longer than ${MOST_SECONDS} s`))
    yield* TestClock.adjust("1 second")
  }
  return yield* Fiber.join(fiber)
})

// From then on, looking every few seconds takes most of the time of a test.
const LONG = Duration.minutes(30)
const SELDOM = Duration.minutes(1)

// Longer than any of these effects takes.
const MOST_SECONDS = 300

const useCases = Layer.mergeAll(
  Ingest.layer,
  Admission.layer,
  Operations.layer,
  Operators.layer,
  Sessions.layer,
  Integrations.layer,
  Queries.layer,
)

const UNLIMITED = { perMinute: 0, burst: 0 }

/** The layer of one process, over its client of the storage. */
const layerOf = (
  {
    delivers = true,
    keepsHouse = false,
    reports = false,
    sendsReports = false,
    probes,
    retention,
    mostSeries,
    lease,
    concurrency,
    pieceSize,
  }: ProcessOptions,
  storage: Storage["Service"],
  notifiers: Notifiers["Service"],
) =>
  Layer.mergeAll(
    useCases,
    delivers ? Layer.provide(Delivery.layer, ReplicaIdentity.layer) : Layer.empty,
    sendsReports ? monthlyReports : Layer.empty,
    keepsHouse || retention !== undefined
      ? Layer.merge(Housekeeping.layer, Layer.provide(recordNumbers, NumberMemory.layer))
      : Layer.empty,
    reports ? Layer.provide(Replicas.layer, ReplicaIdentity.layer) : Layer.empty,
    probes ? Layer.provide(WatchRunner.layer, ReplicaIdentity.layer) : Layer.empty,
  ).pipe(
    Layer.provideMerge(OutboxSignal.layer),
    Layer.provideMerge(Commits.layer),
    Layer.provideMerge(PolicyInForce.layer),
    Layer.provideMerge(CurrentReceivers.layer),
    Layer.provide([
      Layer.succeed(Storage, storage),
      Layer.succeed(Notifiers, notifiers),
      Layer.succeed(WatchProbes, probes),
      Layer.succeed(Retention, { ...defaultRetention, ...retention }),
      mostSeries === undefined ? Layer.empty : Layer.succeed(MostSeries, mostSeries),
      pieceSize === undefined
        ? Layer.empty
        : Layer.succeed(PieceSizes, { rows: pieceSize, incidents: pieceSize }),
      Layer.succeed(Delivery.DeliverySettings, {
        lease: lease ?? Delivery.defaultDelivery.lease,
        concurrency: concurrency ?? Delivery.defaultDelivery.concurrency,
      }),
    ]),
  )

/** Opens a service without rows or processes, and sets the clock to its start. */
export const openService = Effect.fnUntraced(function* (options: ServiceOptions = {}) {
  const {
    answerTo,
    onAttempt,
    onMove,
    remembers,
    sendsAll,
    types,
    hints,
    ids,
    storage,
    clientOf,
    idleFor,
    ...changes
  } = options
  yield* TestClock.setTime(START_MILLIS)
  const closings: Array<Effect.Effect<void>> = []
  yield* Effect.addFinalizer(() =>
    whileTimePasses(Effect.all(closings, { concurrency: "unbounded", discard: true })),
  )
  const memory = Effect.map(Layer.build(Layer.fresh(MemoryStorage.layer)), Context.get(Storage))
  const hinted = yield* PubSub.unbounded<number>()
  const hintsInTurn = typeof hints === "object" ? hints : hints === true ? [[0]] : []
  let moves = 0
  /** The announcements of a storage to its other processes. */
  const announced = yield* PubSub.unbounded<{ readonly client: string; readonly topics: Topics }>()
  const watched = watchStorage(storage ?? (yield* memory), {
    onMove: (move) => {
      onMove?.(move)
      for (const millis of hintsInTurn[moves++ % hintsInTurn.length] ?? [])
        PubSub.publishUnsafe(hinted, millis)
    },
    onCommit: (client, topics) => {
      if (topics !== NO_TOPICS) PubSub.publishUnsafe(announced, { client, topics })
    },
  })
  const serviceRules = { ...defaultRules, heartbeatRate: UNLIMITED, ...changes }
  const idsLayer = ids === undefined ? SeededIds.layer("service") : Layer.succeed(Ids, ids)
  const shared = yield* Layer.build(Layer.fresh(Layer.merge(idsLayer, NodeHashing.layer())))
  const receivers = makeReceivers({
    ...(answerTo && { answerTo }),
    ...(onAttempt && { onAttempt }),
    ...(remembers && { remembers }),
    ...(sendsAll && { sendsAll }),
    ...(types && { types }),
  })

  let isLong = false
  const idle = (every: Duration.Duration) =>
    Effect.suspend(() => {
      const least = isLong ? SELDOM : typeof idleFor === "function" ? idleFor() : (idleFor ?? every)
      return Effect.sleep(Duration.max(every, least))
    })
  const passes = Effect.fnUntraced(function* (time: Duration.Input) {
    const whole = Duration.fromInputUnsafe(time)
    isLong = Duration.isGreaterThanOrEqualTo(whole, LONG)
    // The loops that sleep for a minute then have a minute left.
    const last = isLong ? Duration.times(SELDOM, 2) : whole
    yield* TestClock.adjust(Duration.subtract(whole, last))
    isLong = false
    yield* TestClock.adjust(last)
  })

  const open = Effect.fnUntraced(function* (name: string, opened: ProcessOptions = {}) {
    const rules = { ...serviceRules, ...opened.rules }
    const others = Stream.filter(Stream.fromPubSub(announced), ({ client }) => client !== name)
    const remoteChanges = Stream.map(others, ({ topics }) => topics)
    const client = { ...watched.clientOf(name), remoteChanges }
    const { storage, faults } = faultyStorage(
      Storage.of({
        ...(clientOf?.(client) ?? client),
        hints: Stream.mapEffect(
          Stream.fromPubSub(hinted),
          (millis) => (millis === 0 ? Effect.void : Effect.sleep(millis)),
          { concurrency: "unbounded" },
        ),
      }),
    )
    const notifiersOf = (kinds: ReadonlyArray<NotifierName>) =>
      new Map(kinds.map((kind) => [kind, receivers.notifier(kind, name)]))
    const layer = layerOf(opened, storage, notifiersOf(opened.configured ?? rules.notifiers)).pipe(
      Layer.provide(Layer.succeed(RuleSettings, rules)),
      Layer.provide(Layer.succeedContext(shared)),
      Layer.provide(Layer.succeed(IdlePause, idle)),
    )
    const scope = yield* Scope.make()
    const close = Scope.close(scope, Exit.void)
    closings.push(close)
    const services = yield* Layer.buildWithScope(Layer.fresh(layer), scope)
    const policy = Context.get(services, PolicyInForce)
    const process: Process = {
      name,
      rules,
      storage,
      commits: Context.get(services, Commits),
      policy,
      ingest: Context.get(services, Ingest),
      admission: Context.get(services, Admission),
      operations: Context.get(services, Operations),
      queries: Context.get(services, Queries),
      signal: Context.get(services, OutboxSignal),
      faults,
      sendsTo: (...kinds) =>
        Effect.andThen(
          Context.get(services, CurrentReceivers).replace(notifiersOf(kinds)),
          policy.replace(policy.current()),
        ),
      close,
    }
    return process
  })

  const service: Service = {
    rows: watched.rows,
    moves: watched.moves,
    receivers,
    hashing: Context.get(shared, Hashing),
    ids: Context.get(shared, Ids),
    open,
    passes,
  }
  return service
})

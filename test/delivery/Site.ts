import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as MemoryStorage from "@tocsin/core/memory/MemoryStorage"
import { Notifiers } from "@tocsin/core/ports/Notifiers"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { Operations } from "@tocsin/core/usecases/Operations"
import type { NotifierName } from "@tocsin/core/contract/Status"
import type { Ids } from "@tocsin/core/ports/Ids"
import { defaultPolicy, Policy, type PolicyOptions } from "@tocsin/core/ports/Policy"
import { Storage } from "@tocsin/core/ports/Storage"
import { Admission } from "@tocsin/core/usecases/Admission"
import * as Delivery from "@tocsin/core/usecases/Delivery"
import { OutboxSignal } from "@tocsin/core/usecases/OutboxSignal"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Context, type Duration, Effect, Exit, Fiber, Layer, PubSub, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { START_MILLIS } from "@tocsin/testing/samples"
import * as SeededIds from "@tocsin/testing/SeededIds"
import { type Faults, faultyStorage } from "./FaultyStorage.ts"
import { settled } from "./settled.ts"
import { type OutboxMove, type OutboxWatch, watchOutbox } from "./OutboxWatch.ts"
import type { Receivers } from "./Receivers.ts"

/** One process of the service: its use cases and its delivery, over its own way to the shared storage. */
export interface Process {
  readonly name: string
  readonly storage: Storage["Service"]
  readonly ingest: Ingest["Service"]
  readonly admission: Admission["Service"]
  readonly operations: Operations["Service"]
  readonly queries: Queries["Service"]
  readonly signal: OutboxSignal["Service"]
  readonly faults: Faults
  /** Stops it in good order. Takes time by the clock where attempts are under way. */
  readonly close: Effect.Effect<void>
}

/** How a process is set up; what is absent is as in production. */
export interface ProcessOptions {
  /** Which notifiers it is configured for; those of the policy unless given. */
  readonly configured?: ReadonlyArray<NotifierName>
  readonly lease?: Duration.Duration
  readonly concurrency?: number
  /** Whether it delivers at all. */
  readonly delivers?: boolean
  /** What else runs in it. */
  readonly background?: Layer.Layer<never, never, Storage | Notifiers | Ids>
}

/** A storage in memory that several processes share. */
export interface Site {
  readonly watch: OutboxWatch
  readonly receivers: Receivers
  readonly open: (name: string, options?: ProcessOptions) => Effect.Effect<Process>
}

interface SiteOptions extends Partial<PolicyOptions> {
  readonly receivers: Receivers
  readonly onMove?: (move: OutboxMove) => void
  /** Whether the storage hints to the other processes that something was enqueued, as the port allows; ours do not. */
  readonly hints?: boolean
}

/** Runs what takes time by the clock, with the clock going on until it is done. */
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

// Longer than anything here takes that ends at all.
const MOST_SECONDS = 300

const useCases = Layer.mergeAll(Ingest.layer, Admission.layer, Operations.layer, Queries.layer).pipe(
  Layer.provide(NodeHashing.layer()),
)

// Rates are no matter of these tests: see those of the token buckets.
const unlimited = { perMinute: 0, burst: 0 }

/** Opens a site with nothing in it, and sets the clock to its start. */
export const openSite = Effect.fnUntraced(function* ({ receivers, onMove, hints, ...policy }: SiteOptions) {
  yield* TestClock.setTime(START_MILLIS)
  const closings: Array<Effect.Effect<void>> = []
  yield* Effect.addFinalizer(() =>
    whileTimePasses(Effect.all(closings, { concurrency: "unbounded", discard: true })),
  )
  const memory = Context.get(yield* Layer.build(Layer.fresh(MemoryStorage.layer)), Storage)
  const enqueued = yield* PubSub.unbounded<void>()
  const watch = watchOutbox(memory, (move) => {
    onMove?.(move)
    if (hints) PubSub.publishUnsafe(enqueued, undefined)
  })
  const inForce = { ...defaultPolicy, heartbeatRate: unlimited, ...policy }
  const ports = Layer.merge(SeededIds.layer("site"), Layer.succeed(Policy, inForce))
  const shared = yield* Layer.build(ports)

  const open = Effect.fnUntraced(function* (name: string, options: ProcessOptions = {}) {
    const { configured = inForce.notifiers, delivers = true, background = Layer.empty } = options
    const client = { ...watch.clientOf(name), hints: hints ? Stream.fromPubSub(enqueued) : Stream.never }
    const { storage, faults } = faultyStorage(Storage.of(client))
    const notifiers = new Map(configured.map((kind) => [kind, receivers.notifier(kind, name)]))
    const layer = Layer.mergeAll(useCases, delivers ? Delivery.layer : Layer.empty, background).pipe(
      Layer.provideMerge(OutboxSignal.layer),
      Layer.provide(Layer.succeed(Storage, storage)),
      Layer.provide(Layer.succeed(Notifiers, notifiers)),
      Layer.provide(
        Layer.succeed(Delivery.DeliverySettings, {
          lease: options.lease ?? Delivery.defaultDelivery.lease,
          concurrency: options.concurrency ?? Delivery.defaultDelivery.concurrency,
        }),
      ),
      Layer.provide(Layer.succeedContext(shared)),
    )
    const own = yield* Scope.make()
    const close = Scope.close(own, Exit.void)
    closings.push(close)
    const services = yield* Layer.buildWithScope(Layer.fresh(layer), own)
    const process: Process = {
      name,
      storage: Context.get(services, Storage),
      ingest: Context.get(services, Ingest),
      admission: Context.get(services, Admission),
      operations: Context.get(services, Operations),
      queries: Context.get(services, Queries),
      signal: Context.get(services, OutboxSignal),
      faults,
      close,
    }
    return process
  })

  const site: Site = { watch, receivers, open }
  return site
})

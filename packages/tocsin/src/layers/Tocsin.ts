/**
 * A Tocsin service of layers. {@link services} answers, {@link background} works without being asked, and
 * {@link layer} is both.
 */
import * as HmacLinkSigner from "@tocsin/adapter-crypto/HmacLinkSigner"
import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import type { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { storageStack } from "@tocsin/core/kernel/engine/commits/storageStack"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { CurrentInstruments, Instruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { Receivers } from "@tocsin/core/heart/notifications/Receivers"
import { type WatchdogReceiver, Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { MostSeries } from "@tocsin/core/features/numbers/NumberMemory"
import { PushService } from "@tocsin/core/features/push/PushService"
import { type PepperChanged, verifyPepper } from "@tocsin/core/heart/admission/verifyPepper"
import type { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import type { Ids } from "@tocsin/core/kernel/ports/Ids"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { ruleProblems } from "@tocsin/core/heart/usecases/ruleProblems"
import { defaultRules, RuleSettings, type RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import type { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import * as Watchdog from "@tocsin/core/heart/usecases/Watchdog"
import * as Delivery from "@tocsin/core/heart/usecases/Delivery"
import {
  defaultRetention,
  Retention,
  type RetentionOptions,
} from "@tocsin/core/kernel/engine/commits/Retention"
import { OutboxSignal } from "@tocsin/core/heart/notifications/OutboxSignal"
import { PolicySource } from "@tocsin/core/heart/usecases/PolicySource"
import { SecretCipher } from "@tocsin/core/kernel/ports/SecretCipher"
import { ReplicaVersion } from "@tocsin/core/heart/usecases/Replicas"
import { Duration, Effect, Layer, type Redacted } from "effect"
import { IncidentFeed } from "../live/IncidentFeed.ts"
import { metricTables } from "@tocsin/core/lists/metricTables"
import * as core from "@tocsin/core/lists/services"
import { Operations, Queries } from "./Operations.ts"

/** The parts of a service. */
export interface TocsinOptions<StorageFailure = never, NotifierFailure = never, ClockFailure = never> {
  readonly storage: Layer.Layer<Storage, StorageFailure>
  /** None unless given. */
  readonly notifiers?: Layer.Layer<Notifiers, NotifierFailure, Ids> | undefined
  /** Replaces Effect's Clock: `PgClock` where several replicas share one PostgreSQL. */
  readonly clock?: Layer.Layer<never, ClockFailure> | undefined
  /** Replaces random ids, for tests. */
  readonly ids?: Layer.Layer<Ids> | undefined
  /** Rules that differ from the defaults. Rules that contradict each other are a defect. */
  readonly rules?: Partial<RuleOptions> | undefined
  /** Where the policy comes from; the program decides unless given. */
  readonly policySource?: PolicySource | undefined
  readonly retention?: Partial<RetentionOptions> | undefined
  /** How many series of numbers are kept; 20,000 unless given, 0 for none (docs/rules.md#numbers). */
  readonly mostSeries?: number | undefined
  readonly delivery?: Partial<Delivery.DeliveryOptions> | undefined
  /** No caller waits longer for the storage; 10 s unless given. */
  readonly storageTimeout?: Duration.Input | undefined
  /** The version that this process reports to the others; `embedded` unless given. */
  readonly version?: string | undefined
  /** Peppers the hashes of agent keys; the same for good once chosen. */
  readonly pepper?: Redacted.Redacted | undefined
  /** Encrypts the stored secrets of receivers; without it, none can be stored. */
  readonly secretCipher?: SecretCipher | undefined
  /** Writes to browsers; without it, none gets notifications. */
  readonly push?: PushService | undefined
  /** Signs links that acknowledge: 64 hex digits. Without it, messages have none. */
  readonly linkKey?: Redacted.Redacted | undefined
}

/** The services that {@link services} provides. */
export type TocsinServices =
  | Layer.Success<typeof core.services>
  | Operations
  | Queries
  | IncidentFeed
  | Readiness
  | OutboxSignal
  | Commits
  | Storage
  | Notifiers
  | Receivers
  | PolicyInForce
  | Hashing
  | Ids

const STORAGE_TIMEOUT = Duration.seconds(10)

const noNotifiers = Layer.succeed(Notifiers, new Map())

/**
 * The use cases over a storage, and all that they need. Fails where the storage or a notifier cannot be made,
 * and where the pepper differs from the storage's first use.
 */
export const services = <StorageFailure, NotifierFailure, ClockFailure>(
  options: TocsinOptions<StorageFailure, NotifierFailure, ClockFailure>,
): Layer.Layer<
  TocsinServices,
  StorageFailure | NotifierFailure | ClockFailure | PepperChanged | StorageError
> => {
  const storage = Layer.mergeAll(IncidentFeed.layer, OutboxSignal.layer, Readiness.layer).pipe(
    Layer.provideMerge(storageStack(Duration.fromInputUnsafe(options.storageTimeout ?? STORAGE_TIMEOUT))),
    Layer.provide(options.storage),
  )
  const ports = Layer.mergeAll(
    storage,
    NodeHashing.layer({ pepper: options.pepper }),
    PolicyInForce.layer,
  ).pipe(
    Layer.provideMerge(settings(options)),
    Layer.provideMerge(options.linkKey === undefined ? Layer.empty : HmacLinkSigner.layer(options.linkKey)),
    Layer.provideMerge(
      options.secretCipher === undefined ? Layer.empty : Layer.succeed(SecretCipher, options.secretCipher),
    ),
    Layer.provideMerge(options.push === undefined ? Layer.empty : Layer.succeed(PushService, options.push)),
    Layer.provideMerge(Receivers.layer),
    Layer.provideMerge(options.notifiers ?? noNotifiers),
    Layer.provideMerge(options.ids ?? RandomIds.layer),
    Layer.provideMerge(options.clock ?? Layer.empty),
    // Each service counts for itself.
    Layer.provideMerge(Layer.sync(CurrentInstruments, () => new Instruments(metricTables))),
  )
  return Layer.mergeAll(Operations.layer, Queries.layer).pipe(
    Layer.provideMerge(core.services),
    Layer.provide(Layer.effectDiscard(verifyPepper)),
    Layer.provideMerge(ports),
  )
}

/** Delivery, liveness, retention, numbers, the report to other replicas, and probes; safe with several replicas. */
export const { background } = core

export interface WatchdogOptions {
  /** From one watchdog ping to the next. */
  readonly interval: Duration.Duration
  readonly receiver: Layer.Layer<WatchdogReceiver>
}

/** Watchdog pings to another system while all is well; each process sends its own. */
export const watchdog = ({ interval, receiver }: WatchdogOptions) =>
  Layer.unwrap(
    Effect.map(Readiness, ({ isDraining }) =>
      Watchdog.layer({ interval, isStopping: Effect.sync(isDraining) }).pipe(Layer.provide(receiver)),
    ),
  )

/** {@link services} with {@link background} running. */
export const layer = <StorageFailure, NotifierFailure, ClockFailure>(
  options: TocsinOptions<StorageFailure, NotifierFailure, ClockFailure>,
) => background.pipe(Layer.provideMerge(services(options)))

/** The options of the rules and of the background work. */
const settings = (options: TocsinOptions<unknown, unknown, unknown>) =>
  Layer.mergeAll(
    Layer.effect(
      RuleSettings,
      Effect.flatMap(Notifiers, (notifiers) => {
        const rules = {
          ...defaultRules,
          notifiers: Array.from(notifiers.keys()),
          stored: {},
          ...options.rules,
        }
        const problems = ruleProblems(rules)
        // A mistake in the program, as a wrong type would be.
        return problems.length === 0 ? Effect.succeed(rules) : Effect.die(new Error(problems.join("\n")))
      }),
    ),
    Layer.succeed(Retention, { ...defaultRetention, ...options.retention }),
    options.mostSeries === undefined ? Layer.empty : Layer.succeed(MostSeries, options.mostSeries),
    options.version === undefined ? Layer.empty : Layer.succeed(ReplicaVersion, options.version),
    options.policySource === undefined ? Layer.empty : Layer.succeed(PolicySource, options.policySource),
    Layer.succeed(Delivery.DeliverySettings, { ...Delivery.defaultDelivery, ...options.delivery }),
  )

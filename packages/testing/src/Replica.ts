import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { defaultRules, RuleSettings, type RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import { type IncidentOptions, incidentOptions } from "@tocsin/core/heart/incidents/incidentOptions"
import { Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { Receivers } from "@tocsin/core/heart/notifications/Receivers"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Admission } from "@tocsin/core/lists/Admission"
import { Integrations } from "@tocsin/core/features/integrations/Integrations"
import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { Operators } from "@tocsin/core/heart/usecases/Operators"
import { placeFollowing, Watches, watchAgentOf } from "@tocsin/core/features/watches/Watches"
import type { WatchAgent } from "@tocsin/core/features/watches/watchAgent"
import { Exports } from "@tocsin/core/lists/Exports"
import { Queries } from "@tocsin/core/lists/Queries"
import { Context, Effect, Layer, type Scope } from "effect"
import * as SeededIds from "./SeededIds.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

/** One process of the service: the use cases over one client of the storage. */
export interface Replica {
  readonly storage: Storage["Service"]
  readonly commits: Commits["Service"]
  readonly ingest: Ingest["Service"]
  readonly admission: Admission["Service"]
  readonly queries: Queries["Service"]
  readonly exports: Exports["Service"]
  readonly operators: Operators["Service"]
  readonly sessions: Sessions["Service"]
  readonly integrations: Integrations["Service"]
  readonly watches: Watches["Service"]
  readonly watchAgent: WatchAgent
  /** For decisions that no use case above makes: those of delivery, housekeeping and operations. */
  readonly incidents: IncidentOptions
}

const useCases = Layer.mergeAll(
  Ingest.layer.pipe(Layer.provide(placeFollowing)),
  Admission.layer,
  Queries.layer,
  Exports.layer,
  Operators.layer,
  Sessions.layer,
  Integrations.layer,
  Watches.layer,
).pipe(Layer.provideMerge(NodeHashing.layer()))

const noReceivers = Layer.provide(Receivers.layer, Layer.succeed(Notifiers, new Map()))

const UNLIMITED = { perMinute: 0, burst: 0 }

/** Makes a new place, empty. What it returns opens a client there each time it is run. */
export const newPlace = Effect.fnUntraced(function* <Place>(
  subject: StorageUnderTest<Place>,
  changes: Partial<RuleOptions> = {},
): Effect.fn.Return<Effect.Effect<Replica, unknown, Scope.Scope>, unknown, Scope.Scope> {
  const rules: RuleOptions = { ...defaultRules, heartbeatRate: UNLIMITED, ...changes }
  const place = yield* Layer.build(Layer.fresh(subject.place))
  let opened = 0
  return Effect.suspend(() => {
    opened += 1
    const layer = useCases.pipe(
      Layer.provideMerge(PolicyInForce.layer),
      Layer.provideMerge(noReceivers),
      Layer.provideMerge(Commits.layer),
      Layer.provideMerge(subject.client),
      Layer.provide(Layer.succeedContext(place)),
      // Replicas draw different ids; the first ones of two places draw the same.
      Layer.provideMerge(SeededIds.layer(`replica ${opened}`)),
      Layer.provide(Layer.succeed(RuleSettings, rules)),
    )
    return Effect.gen(function* () {
      const services = yield* Layer.build(Layer.fresh(layer))
      return {
        storage: Context.get(services, Storage),
        commits: Context.get(services, Commits),
        ingest: Context.get(services, Ingest),
        admission: Context.get(services, Admission),
        queries: Context.get(services, Queries),
        exports: Context.get(services, Exports),
        operators: Context.get(services, Operators),
        sessions: Context.get(services, Sessions),
        integrations: Context.get(services, Integrations),
        watches: Context.get(services, Watches),
        watchAgent: yield* Effect.provideContext(watchAgentOf, services),
        incidents: incidentOptions(
          Context.get(services, Ids),
          Context.get(services, PolicyInForce),
          rules,
          Context.get(services, Hashing),
        ),
      }
    })
  })
})

/** Opens a new, empty storage. */
export const openReplica = <Place>(
  subject: StorageUnderTest<Place>,
  rules?: Partial<RuleOptions>,
): Effect.Effect<Replica, unknown, Scope.Scope> => Effect.flatten(newPlace(subject, rules))

import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import * as MemoryStorage from "@tocsin/core/memory/MemoryStorage"
import { incidentOptions } from "@tocsin/core/incidents/incidentOptions"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { sweepSilentAgents } from "@tocsin/core/liveness/sweepDeadAgents"
import { removeCheck, resetClock } from "@tocsin/core/checks/checkActions"
import * as Instant from "@tocsin/core/contract/Instant"
import { Hashing } from "@tocsin/core/ports/Hashing"
import { Ids } from "@tocsin/core/ports/Ids"
import { defaultPolicy, Policy, type PolicyOptions } from "@tocsin/core/ports/Policy"
import { Storage } from "@tocsin/core/ports/Storage"
import { Admission } from "@tocsin/core/usecases/Admission"
import { Queries } from "@tocsin/core/usecases/Queries"
import { purge } from "@tocsin/testing/expireAll"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { START_MILLIS } from "@tocsin/testing/samples"
import * as SeededIds from "@tocsin/testing/SeededIds"
import { type Action, batchReply, type EventsAction, type Observation, type Reply } from "./Action.ts"
import { actionOf } from "./actionOf.ts"
import { deliver } from "./deliver.ts"
import type { Rows } from "./Rows.ts"
import { KEYS, type Step } from "./Scenario.ts"
import { watchedStorage, type WatchedStorage } from "./watchedStorage.ts"

/** The service under test, driven by steps. */
export interface World {
  readonly storage: Storage["Service"]
  readonly hashing: Hashing["Service"]
  readonly queries: () => Queries["Service"]
  readonly rows: () => Rows
  readonly perform: <A extends Action>(action: A) => Effect.Effect<Observation<A>, never, Scope.Scope>
  /** Does steps, one after the other and a second apart by the agents' clocks; those that find nothing to act on are left out. */
  readonly play: (steps: ReadonlyArray<Step>) => Effect.Effect<ReadonlyArray<Observation>, never, Scope.Scope>
}

/** What a world can have that is not the default. */
export interface WorldOptions extends Partial<PolicyOptions> {
  /** The storage; that in memory unless one is given. */
  readonly watched?: WatchedStorage
}

const openMemory = Effect.map(Layer.build(Layer.fresh(MemoryStorage.layer)), (services) =>
  watchedStorage(Context.get(services, Storage)),
)

const openSupport = Layer.build(Layer.fresh(Layer.mergeAll(NodeHashing.layer(), SeededIds.layer("world"))))
const useCases = Layer.fresh(Layer.mergeAll(Ingest.layer, Admission.layer, Queries.layer))

const PURGED_AT_ONCE = 3
const SWEPT_AT_ONCE = 100
// Rates are no matter of this: see the tests of the token buckets.
const unlimited = { perMinute: 0, burst: 0 }

const failureName = (error: { readonly _tag: string; readonly reason?: unknown }): string =>
  error.reason === undefined ? error._tag : `${error._tag}/${String(error.reason)}`

/** Opens a world with nothing in it, and sets the clock to its start. */
export const openWorld = Effect.fnUntraced(function* ({ watched: given, ...options }: WorldOptions = {}) {
  yield* TestClock.setTime(START_MILLIS)
  const { storage, rows } = given ?? (yield* openMemory)
  const support = yield* openSupport
  const hashing = Context.get(support, Hashing)
  const start = (policy: PolicyOptions) =>
    Effect.map(
      Layer.build(
        useCases.pipe(
          Layer.provide(Layer.succeedContext(support)),
          Layer.provide(Layer.succeed(Storage, storage)),
          Layer.provide(Layer.succeed(Policy, policy)),
        ),
      ),
      (services) => ({ policy, services }),
    )
  let running = yield* start({ ...defaultPolicy, heartbeatRate: unlimited, ...options })
  const applied: Array<EventsAction> = []

  const restart = Effect.fnUntraced(function* (preseeded: boolean) {
    const { key_fingerprint } = hashing.identify(Redacted.make(KEYS[3]))
    running = yield* start({
      ...running.policy,
      acceptFingerprints: new Set(preseeded ? [key_fingerprint] : []),
    })
  })

  const answer = (action: Action): Effect.Effect<Reply, unknown, Scope.Scope> => {
    const ingest = Context.get(running.services, Ingest)
    const admission = Context.get(running.services, Admission)
    switch (action.action) {
      case "wait":
        return Effect.as(TestClock.adjust(action.millis), undefined)
      case "heartbeat":
        return named(ingest.heartbeat(Redacted.make(action.key), action.request))
      case "events":
        return named(ingest.events(Redacted.make(action.key), action.request))
      case "accept":
        return named(admission.accept(action.agent_id))
      case "block":
        return named(admission.block(action.agent_id))
      case "remove":
        return named(admission.remove(action.agent_id))
      case "accept_all":
        return named(admission.acceptAll(action))
      case "block_all":
        return named(admission.blockAll)
      case "remove_all":
        return named(admission.removeAll)
      case "unblock":
        return named(admission.unblock(action.id))
      case "unblock_all":
        return named(admission.unblockAll)
      case "purge":
        return Effect.as(purge(storage, PURGED_AT_ONCE), undefined)
      case "sweep": {
        const incidents = incidentOptions(Context.get(support, Ids), running.policy)
        const input = { policy: running.policy, incidents, limit: SWEPT_AT_ONCE }
        return Effect.as(sweepSilentAgents(storage, input), undefined)
      }
      case "restart":
        return Effect.as(restart(action.preseeded), undefined)
      case "reset_clock":
        return Effect.as(storage.transact(resetClock(action.check)), undefined)
      case "remove_check": {
        const incidents = incidentOptions(Context.get(support, Ids), running.policy)
        return Effect.as(storage.transact(removeCheck(action.check, incidents)), undefined)
      }
      case "deliver":
        return Effect.as(storage.transact(deliver(action.item, action.trigger)), undefined)
    }
  }

  const perform = Effect.fnUntraced(function* <A extends Action>(action: A) {
    const before = rows()
    const reply = yield* Effect.orDie(answer(action))
    if (action.action === "events" && batchReply(reply) !== undefined) applied.push(action)
    const observation: Observation<A> = {
      action,
      now: yield* Instant.now,
      policy: running.policy,
      reply,
      before,
      after: rows(),
    }
    return observation
  })

  let stepsDone = 0
  const play = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
    const observations: Array<Observation> = []
    for (const step of steps) {
      stepsDone += 1
      const action = actionOf(step, { rows: rows(), applied, number: stepsDone })
      if (action !== undefined) observations.push(yield* perform(action))
    }
    return observations
  })

  const world: World = {
    storage,
    hashing,
    queries: () => Context.get(running.services, Queries),
    rows,
    perform,
    play,
  }
  return world
})

const named = <A extends Reply>(
  answered: Effect.Effect<A, { readonly _tag: string; readonly reason?: unknown }>,
): Effect.Effect<Reply> =>
  Effect.match(answered, { onFailure: failureName, onSuccess: (reply): Reply => reply })

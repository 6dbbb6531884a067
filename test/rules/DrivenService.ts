import { removeCheck, resetClock } from "@tocsin/core/heart/checks/checkActions"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import type { RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { incidentOptions } from "@tocsin/core/heart/incidents/incidentOptions"
import type { Queries } from "tocsin/internal/layers/Operations"
import { sweepStaleAgents } from "@tocsin/core/heart/deadAgents/heartbeatIncident"
import { purge } from "@tocsin/testing/expireAll"
import { signedBy } from "@tocsin/testing/signedBy"
import { Effect, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Rows } from "../service/Rows.ts"
import { openService, type ServiceOptions } from "../service/Service.ts"
import { type Action, batchReply, type EventsAction, type Observation, type Reply } from "./Action.ts"
import { actionOf } from "./actionOf.ts"
import { deliver } from "./deliver.ts"
import { KEYS, type Step } from "./Scenario.ts"

/** The service under test, driven by steps. */
export interface DrivenService {
  readonly storage: Storage["Service"]
  readonly hashing: Hashing["Service"]
  readonly queries: () => Queries["Service"]
  readonly rows: () => Rows
  readonly perform: <A extends Action>(action: A) => Effect.Effect<Observation<A>, never, Scope.Scope>
  /**
   * Plays steps in turn, a second apart by the agents' clocks. Skips those that find nothing to act
   * on.
   */
  readonly play: (steps: ReadonlyArray<Step>) => Effect.Effect<ReadonlyArray<Observation>, never, Scope.Scope>
}

const PURGED_AT_ONCE = 3
const SWEPT_AT_ONCE = 100

const failureName = (error: { readonly _tag: string; readonly reason?: unknown }): string =>
  error.reason === undefined ? error._tag : `${error._tag}/${String(error.reason)}`

/** Opens a service without rows, sets the clock to its start, and drives it by actions. */
export const driveService = Effect.fnUntraced(function* (options: ServiceOptions = {}) {
  const { open, rows, hashing, ids } = yield* openService(options)
  const start = (rules: Partial<RuleOptions>) => open("driven", { delivers: false, rules })
  let running = yield* start({})
  const applied: Array<EventsAction> = []

  const restart = Effect.fnUntraced(function* (preseeded: boolean) {
    const { key_fingerprint } = hashing.identify(Redacted.make(KEYS[3]))
    yield* running.close
    running = yield* start({ acceptFingerprints: new Set(preseeded ? [key_fingerprint] : []) })
  })

  const answer = (action: Action): Effect.Effect<Reply, unknown, Scope.Scope> => {
    const { ingest, admission, commits, policy, rules, storage } = running
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
        const incidents = incidentOptions(ids, policy, rules, hashing)
        const input = { rules, incidents, limit: SWEPT_AT_ONCE }
        return Effect.as(sweepStaleAgents(storage, commits, input), undefined)
      }
      case "restart":
        return Effect.as(restart(action.preseeded), undefined)
      case "reset_clock":
        return Effect.as(commits.transact(resetClock(action.check, signedBy("ann"))), undefined)
      case "remove_check": {
        const incidents = incidentOptions(ids, policy, rules, hashing)
        return Effect.as(commits.transact(removeCheck(action.check, incidents, signedBy("ann"))), undefined)
      }
      case "deliver":
        return Effect.as(commits.transact(deliver(action.item, action.trigger)), undefined)
    }
  }

  const perform = Effect.fnUntraced(function* <A extends Action>(action: A) {
    const before = rows()
    const reply = yield* Effect.orDie(answer(action))
    if (action.action === "events" && batchReply(reply) !== undefined) applied.push(action)
    const observation: Observation<A> = {
      action,
      now: yield* Instant.now,
      rules: running.rules,
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

  const driven: DrivenService = {
    storage: running.storage,
    hashing,
    queries: () => running.queries,
    rows,
    perform,
    play,
  }
  return driven
})

const named = <A extends Reply>(
  answered: Effect.Effect<A, { readonly _tag: string; readonly reason?: unknown }>,
): Effect.Effect<Reply> =>
  Effect.match(answered, { onFailure: failureName, onSuccess: (reply): Reply => reply })

import { Context, Effect, Layer, Semaphore } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { currentSignature } from "../audit/Signature.ts"
import type { NotifierName } from "@tocsin/contract/Status"
import { Receivers } from "../notifications/Receivers.ts"
import { type Policy, type PolicyNotifiers } from "../policy/compilePolicy.ts"
import { nextOccurrences } from "../policy/occurrences.ts"
import { policyHash } from "../policy/policyHash.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import type { PolicyInForceState, WindowList } from "@tocsin/contract/Policies"
import { Ids } from "../ports/Ids.ts"
import type { Notifier } from "../ports/Notifiers.ts"
import { Hashing } from "../ports/Hashing.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import type { StateConflict } from "./OperationErrors.ts"
import { ReplicaIdentity } from "./ReplicaIdentity.ts"
import { currentReceivers, liveReplicas, policyHashes } from "../replicas/listings.ts"

/** Occurrences of each listed window. */
export const SHOWN_OCCURRENCES = 5

/** The policy in force, for operators (docs/rules.md#policy). */
export class Policies extends Context.Service<
  Policies,
  {
    /** The policy in force in this process, and what the live replicas follow. */
    readonly current: Effect.Effect<PolicyInForceState, StorageError>
    /** Its windows, each with its next times. */
    readonly windows: Effect.Effect<WindowList>
    /**
     * Puts another policy in force with the notifiers of its receivers, once the audit has it. Refused
     * while a server runs that would not follow it.
     */
    readonly replace: (
      policy: Policy,
      receivers: ReadonlyMap<NotifierName, Notifier>,
    ) => Effect.Effect<void, StateConflict | StorageError>
    /** Notifiers that a policy may name without defining them. */
    readonly given: PolicyNotifiers
  }
>()("@tocsin/core/usecases/Policies") {
  static readonly layer = Layer.effect(
    Policies,
    Effect.gen(function* () {
      const inForce = yield* PolicyInForce
      const hashing = yield* Hashing
      const storage = yield* Storage
      const replica = yield* ReplicaIdentity
      const { replace: replaceReceivers } = yield* Receivers
      const ids = yield* Ids
      // The policy that this process's row names must be in force.
      const inTurn = (yield* Semaphore.make(1)).withPermits(1)
      return Policies.of({
        replace: (policy, notifiers) =>
          Effect.gen(function* () {
            yield* replica.report(policy, yield* currentSignature(ids))
            yield* replaceReceivers(notifiers)
            yield* inForce.replace(policy)
          }).pipe(Effect.uninterruptible, inTurn),
        given: yield* RuleSettings,
        current: Effect.gen(function* () {
          const live = liveReplicas(yield* storage.replicas, yield* Instant.now)
          const replicas = live.toSorted((a, b) => (a.id < b.id ? -1 : 1))
          const { document, receivers } = inForce.current()
          return {
            policy: document,
            hash: policyHash(document, hashing),
            receivers: Array.from(receivers, ([name, { kind }]) => ({ name, notifier: kind })).toSorted(
              (a, b) => (a.name < b.name ? -1 : 1),
            ),
            replicas: replicas.map(
              ({ id, policy_hash: hash, receivers: listed, seen_at, started_at, version }) => ({
                id,
                version,
                hash,
                receivers: currentReceivers(listed),
                started_at,
                seen_at,
              }),
            ),
            replicas_differ: policyHashes(replicas).length > 1,
          }
        }),
        windows: Effect.map(Instant.now, (now) => ({
          items: inForce.current().windows.map((window) => ({
            ...window,
            occurrences: nextOccurrences(window, now, SHOWN_OCCURRENCES),
          })),
        })),
      })
    }),
  )
}

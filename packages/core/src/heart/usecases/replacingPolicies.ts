import { Effect, Semaphore } from "effect"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Ids } from "../../kernel/ports/Ids.ts"
import type { Notifier } from "../notifications/Notifiers.ts"
import { currentSignature } from "../audit/Signature.ts"
import { Receivers } from "../notifications/Receivers.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { ReplicaIdentity } from "./Replicas.ts"

/** Puts policies in force with the notifiers of their receivers. */
export const replacingPolicies = Effect.gen(function* () {
  const inForce = yield* PolicyInForce
  const replica = yield* ReplicaIdentity
  const receivers = yield* Receivers
  const ids = yield* Ids
  // The policy that this process's row names must be in force.
  const inTurn = (yield* Semaphore.make(1)).withPermits(1)
  const begin = (policy: Policy, notifiers: ReadonlyMap<NotifierName, Notifier>) =>
    Effect.andThen(receivers.replace(notifiers), inForce.replace(policy))
  const replace = (policy: Policy, notifiers: ReadonlyMap<NotifierName, Notifier>) =>
    Effect.gen(function* () {
      yield* replica.report(policy, yield* currentSignature(ids))
      yield* begin(policy, notifiers)
    }).pipe(Effect.uninterruptible, inTurn)
  return { begin, replace }
})

import { Context, Duration, Effect, FiberMap, FiberSet, Layer, Queue, Stream } from "effect"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { Ids } from "../../kernel/ports/Ids.ts"
import { makeRepairs, repairReceivers } from "../evaluation/repairReceivers.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import type { PolicyReceiver } from "../policy/compilePolicy.ts"
import { deliverItems, type ReceiverOptions } from "../notifications/deliverItems.ts"
import { endAlarms } from "../notifications/endAlarms.ts"
import { resendAlerts } from "../notifications/resendAlerts.ts"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Receivers } from "../notifications/Receivers.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { type RuleOptions, RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import { usableReceivers } from "../replicas/listedReceivers.ts"
import { mayOwn, ownerOf } from "../replicas/ownerOf.ts"
import { ReplicaIdentity } from "./Replicas.ts"
import { OutboxSignal } from "../notifications/OutboxSignal.ts"

export interface DeliveryOptions {
  /** How long a claim holds, by the storage's clock (SERVICE_DELIVERY_LEASE). */
  readonly lease: Duration.Duration
  /** At each notifier (SERVICE_DELIVERY_CONCURRENCY): a hanging receiver blocks only its own. */
  readonly concurrency: number
}

/** A lease of a minute, and as many attempts as one receiver handles without strain. */
export const defaultDelivery: DeliveryOptions = { lease: Duration.seconds(60), concurrency: 32 }

export const DeliverySettings = Context.Reference<DeliveryOptions>("@tocsin/core/usecases/DeliverySettings", {
  defaultValue: () => defaultDelivery,
})

/** One call about all that is due. */
const PHONE: ReceiverOptions = { concurrency: 1, digestOver: 1, isPhone: true }

const optionsOf = (
  receiver: PolicyReceiver | undefined,
  { concurrency, messageDetails }: Pick<DeliveryOptions, "concurrency"> & Pick<RuleOptions, "messageDetails">,
): ReceiverOptions => {
  const definition = receiver?.definition
  if (definition?.kind === "messenger" && definition.type === "call") return PHONE
  const digest = definition?.kind === "messenger" ? (definition.digest ?? "flood") : "off"
  return {
    concurrency: definition?.concurrency ?? concurrency,
    digestOver: typeof digest === "string" ? undefined : digest.over,
    isFlooded: digest === "flood",
    hasDetails: messageDetails && !(definition && "details" in definition && definition.details === false),
  }
}

type WorkerName = `${NotifierName}/${"items" | "alerts" | "alarms"}`
type Worker = ReturnType<typeof deliverItems | typeof resendAlerts | typeof endAlarms>

// A stop may take ten seconds; running attempts get these to finish.
const FINISH_WITHIN = Duration.seconds(4)

/** Finds whether this process owns a receiver, among the replicas that can use it; it does while none has reported. */
const makeOwnership = Effect.gen(function* () {
  const storage = yield* Storage
  const { id } = yield* ReplicaIdentity
  const { sha256 } = yield* Hashing
  return (receiver: NotifierName) =>
    Effect.zipWith(storage.replicas, Instant.now, (replicas, now) => {
      const candidates = replicas.filter(
        (replica) => mayOwn(replica, now) && usableReceivers(replica.receivers).includes(receiver),
      )
      return (ownerOf(receiver, candidates, sha256) ?? id) === id
    })
})

/**
 * Delivers the outbox until the layer closes, with one worker for each receiver, so that a dead one
 * delays only its own items. Workers follow the policy in force. Those of a removed receiver stay, for
 * its attempts may still run when it comes back. On close, running attempts end or are released
 * (docs/rules.md#delivery).
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { lease, concurrency } = yield* DeliverySettings
    const rules = yield* RuleSettings
    const { messageDetails } = rules
    const { current } = yield* Receivers
    const policy = yield* PolicyInForce
    const signal = yield* OutboxSignal
    const underWay = yield* FiberSet.make()
    // Finalizers run last to first: no new claims, then time to finish; then the set interrupts the
    // rest.
    yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(underWay), FINISH_WITHIN))
    const owns = yield* makeOwnership
    const services = { commits: yield* Commits, storage: yield* Storage }
    const incidents = incidentOptions(yield* Ids, policy, rules, yield* Hashing)
    const repairs = makeRepairs((repaired) => repairReceivers(services, incidents, repaired))
    yield* Effect.forkScoped(repairs.run)
    const { changed } = yield* ReplicaIdentity
    const followChanged = Effect.zipWith(Queue.take(changed), Instant.now, (receiver, at) =>
      repairs.works(receiver, "change", at),
    )
    yield* Effect.forkScoped(Effect.forever(followChanged))
    const workers = yield* FiberMap.make<WorkerName, never>()
    const run = (name: WorkerName, worker: Worker) =>
      FiberMap.run(workers, name, worker, { onlyIfMissing: true })

    const follow = Effect.gen(function* () {
      for (const [receiver, { endAlarm, kind, resend }] of current()) {
        const options = () =>
          optionsOf(policy.current().receivers.get(receiver), { concurrency, messageDetails })
        const onWorks = (at: Instant.Instant) => repairs.works(receiver, "attempt", at)
        const given = { receiver, kind, options, lease, underWay, onWorks, isOwner: owns(receiver) }
        yield* run(`${receiver}/items`, deliverItems(given))
        if (resend !== undefined)
          yield* run(`${receiver}/alerts`, resendAlerts({ receiver, lease, underWay }))
        if (endAlarm !== undefined)
          yield* run(`${receiver}/alarms`, endAlarms({ receiver, isOwner: owns(receiver) }))
      }
      yield* signal.raise
    })
    const replaced = yield* Stream.toQueue(policy.replaced, { capacity: "unbounded" })
    yield* follow
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Queue.take(replaced), follow)))
  }),
)

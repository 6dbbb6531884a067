import { Context, Effect, Layer, Semaphore } from "effect"
import type { ValidationError } from "@tocsin/contract/Errors"
import * as Instant from "@tocsin/contract/Instant"
import { currentSignature } from "../audit/Signature.ts"
import type { NotifierName } from "@tocsin/contract/Status"
import { Receivers } from "../notifications/Receivers.ts"
import { Commits } from "../engine/commits/Commits.ts"
import { countFirings, MOST_UNCONFIRMED } from "../evaluation/evaluateIncidents.ts"
import { applyPolicy, policyHash } from "../policy/applyPolicy.ts"
import { compileGiven, type Policy, type PolicyNotifiers } from "../policy/compilePolicy.ts"
import { nextOccurrences } from "../policy/occurrences.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { PolicySource } from "../ports/PolicySource.ts"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"
import { KEPT_VERSIONS } from "../model/PolicyVersionRecord.ts"
import type {
  AppliedPolicy,
  FiringCount,
  PolicyInForceState,
  PolicyVersionList,
  UnavailableReceiver,
  WindowList,
} from "@tocsin/contract/Policies"
import { Ids } from "../ports/Ids.ts"
import type { Notifier } from "../ports/Notifiers.ts"
import { Hashing } from "../ports/Hashing.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { AnotherPolicy, StateConflict } from "./OperationErrors.ts"
import { followStoredPolicy, invalidPolicy } from "./followStoredPolicy.ts"
import { tryingPolicy, type TryPolicy } from "./tryingPolicy.ts"
import { ReplicaIdentity } from "./ReplicaIdentity.ts"
import {
  currentReceivers,
  liveReplicas,
  policyHashes,
  unavailableReceivers,
  type UnusableReceiver,
  unusableReceivers,
} from "../replicas/listings.ts"

/** Refuses a policy that was not confirmed, if it would send too many firings to a receiver. */
export const refuseMany = ([most]: ReadonlyArray<FiringCount>): Effect.Effect<void, StateConflict> =>
  most === undefined || most.count <= MOST_UNCONFIRMED
    ? Effect.void
    : Effect.fail(
        new StateConflict({
          message: `the policy would send ${most.count} firings to ${most.receiver} immediately; set confirm if that is meant`,
        }),
      )

const shownPolicy = (
  { document, receivers }: Policy,
  sending: ReadonlyMap<NotifierName, Notifier>,
  live: ReadonlyArray<ReplicaRecord>,
  hashing: Hashing["Service"],
): PolicyInForceState => ({
  policy: document,
  hash: policyHash(document, hashing),
  receivers: Array.from(receivers, ([name, { kind: notifier }]) =>
    sending.has(name) ? { name, notifier } : { name, notifier, unavailable: true as const },
  ).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  replicas: live
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, policy_hash: hash, receivers: listed, seen_at, started_at, version }) => ({
      id,
      version,
      hash,
      receivers: currentReceivers(listed),
      unavailable: unavailableReceivers(listed),
      started_at,
      seen_at,
    })),
  replicas_differ: policyHashes(live).length > 1,
})

/** A policy that was stored, before a server has followed it. */
type StoredPolicy = Omit<AppliedPolicy, "unavailable">

/** The servers that follow a policy, and those that do not. */
export interface Followers {
  readonly following: number
  readonly others: number
  readonly unusable: ReadonlyArray<UnusableReceiver>
}

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
    /** Counts the firings that each receiver would get immediately under a policy. */
    readonly firings: (policy: Policy) => Effect.Effect<ReadonlyArray<FiringCount>, StorageError>
    /**
     * Stores a policy for all servers, and puts it in force in none: {@link follow} does. `replaces` is the
     * hash of the one that it must replace. Without `confirm`, {@link refuseMany} applies.
     */
    readonly apply: (
      text: string,
      options: { readonly replaces?: string | undefined; readonly confirm: boolean },
    ) => Effect.Effect<StoredPolicy, AnotherPolicy | StateConflict | StorageError | ValidationError>
    /**
     * Counts the messages that a policy would have sent of the recorded past, beside those of the policy in
     * force. One at a time in a process.
     */
    readonly try: TryPolicy
    /** The stored versions, the newest first. */
    readonly versions: Effect.Effect<PolicyVersionList, StorageError>
    /** Puts the newest stored version in force here if it is not yet. */
    readonly follow: Effect.Effect<void, StateConflict | StorageError>
    /** The receivers of the policy in force that this process cannot use. */
    readonly unavailable: () => ReadonlyArray<UnavailableReceiver>
    /** How the running servers follow the policy with a hash. */
    readonly followers: (hash: string) => Effect.Effect<Followers, StorageError>
    /** Reads the secrets of the stored policy in force again. */
    readonly reload: Effect.Effect<void, StateConflict | StorageError>
    /** Where the policy of this process comes from, which is how a new one is read. */
    readonly source: PolicySource
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
      const { current: sending, replace: replaceReceivers } = yield* Receivers
      const { transact } = yield* Commits
      const source = yield* PolicySource
      const ids = yield* Ids
      // The policy that this process's row names must be in force.
      const inTurn = (yield* Semaphore.make(1)).withPermits(1)
      const given = yield* RuleSettings
      const put = (policy: Policy, notifiers: ReadonlyMap<NotifierName, Notifier>) =>
        Effect.andThen(replaceReceivers(notifiers), inForce.replace(policy))
      const replace: Policies["Service"]["replace"] = (policy, notifiers) =>
        Effect.gen(function* () {
          yield* replica.report(policy, yield* currentSignature(ids))
          yield* put(policy, notifiers)
        }).pipe(Effect.uninterruptible, inTurn)
      const firings: Policies["Service"]["firings"] = (policy) =>
        countFirings(storage, { transact }, { ...given, policy: () => policy })
      return Policies.of({
        ...(yield* followStoredPolicy(given, { begin: put, replace })),
        apply: Effect.fn("Policies.apply")(function* (text, { confirm, replaces }) {
          if (source.source === "given") return yield* new StateConflict({ message: source.advice })
          const document = yield* Effect.mapError(source.read(text, true), invalidPolicy)
          const counts = yield* firings(compileGiven(document, given))
          if (!confirm) yield* refuseMany(counts)
          const hash = policyHash(document, hashing)
          const signature = yield* currentSignature(ids)
          const applied = yield* transact(
            applyPolicy({ hash, text, replaces }, policyHash({}, hashing), signature),
          )
          if (applied.outcome === "applied") return { ...applied.version, firings: counts }
          return yield* new AnotherPolicy({
            message: "another policy is in force: compare with GET /ops/v1/policy, and apply yours again",
          })
        }),
        try: yield* tryingPolicy,
        unavailable: () =>
          Array.from(inForce.current().unavailable ?? [], ([receiver, reason]) => ({ receiver, reason })),
        followers: Effect.fnUntraced(function* (hash) {
          const live = liveReplicas(yield* storage.replicas, yield* Instant.now)
          const following = live.filter(({ policy_hash }) => policy_hash === hash)
          const others = live.length - following.length
          return { following: following.length, others, unusable: unusableReceivers(following) }
        }),
        versions: Effect.map(storage.policyVersions(0, KEPT_VERSIONS), (items) => ({ items })),
        replace,
        firings,
        given,
        source,
        current: Effect.map(Effect.all([storage.replicas, Instant.now]), ([replicas, now]) =>
          shownPolicy(inForce.current(), sending(), liveReplicas(replicas, now), hashing),
        ),
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

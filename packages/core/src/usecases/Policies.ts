import { Context, Duration, Effect, Layer, Option, Semaphore } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { currentSignature } from "../audit/Signature.ts"
import type { NotifierName } from "@tocsin/contract/Status"
import { Receivers } from "../notifications/Receivers.ts"
import { policyHash } from "../policy/applyPolicy.ts"
import { type Policy, receiversGiven } from "../policy/compilePolicy.ts"
import { nextOccurrences } from "../policy/occurrences.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { PolicyBacktest, PolicySource } from "../ports/PolicySource.ts"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"
import { KEPT_VERSIONS, type PolicyVersionRecord } from "../model/PolicyVersionRecord.ts"
import type { PolicyInForceState, PolicyVersionParameters } from "@tocsin/contract/Policies"
import { Ids } from "../ports/Ids.ts"
import type { Notifier } from "../ports/Notifiers.ts"
import { Hashing } from "../ports/Hashing.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage } from "../ports/Storage.ts"
import { StateConflict } from "./OperationErrors.ts"
import { applyingPolicies } from "./applyingPolicies.ts"
import { changingReceivers } from "./changingReceivers.ts"
import { followStoredPolicy } from "./followStoredPolicy.ts"
import { ReplicaIdentity } from "./Replicas.ts"
import {
  currentReceivers,
  givenReceivers,
  unavailableReceivers,
  unusableReceivers,
} from "../replicas/listedReceivers.ts"
import { policyHashes } from "../replicas/policyDifference.ts"
import { liveReplicas } from "../replicas/replicaState.ts"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { secretOperations } from "./Secrets.ts"
import { RateLimited } from "../admission/AdmissionErrors.ts"
import { policyTrial } from "../policy/policyTrial.ts"

/** How much of the past a trial reads, and how long it may take (docs/rules.md#trials). */
const SPAN = Duration.days(30)
const RESULTS = 100_000
const LONGEST = Duration.minutes(1)
const RETRY_SECONDS = 10

const NO_HISTORY =
  "this process has no database whose history a policy can be tried on: use tocsin simulate --policy with lines of its API"
const TOO_LONG =
  "the trial took longer than a minute and was ended: run tocsin policy try beside the server instead"
const ANOTHER = "this server tries another policy now: try again once that has ended"

/** Makes the trial of a policy on the recorded past, beside the one in force. It runs one at a time. */
export const tryingPolicy = Effect.gen(function* () {
  const inForce = yield* PolicyInForce
  const hashing = yield* Hashing
  const { staleAfter } = yield* RuleSettings
  const backtest = yield* PolicyBacktest
  const unlessBusy = (yield* Semaphore.make(1)).withPermitsIfAvailable(1)
  const withReceivers = (policy: PolicyDocument) => ({
    policy,
    notifiers: receiversGiven(policy, inForce.given()),
  })
  return Effect.fn("Policies.try")(function* (
    document: PolicyDocument,
    { since = SPAN }: { readonly since?: Duration.Duration | undefined },
  ) {
    if (backtest === undefined) return yield* new StateConflict({ message: NO_HISTORY })
    const { document: present } = inForce.current()
    const until = yield* Instant.now
    const from = Instant.minus(until, since)
    const backtested = yield* backtest({
      inForce: withReceivers(present),
      tried: withReceivers(document),
      since: from,
      until,
      staleAfter,
      most: RESULTS,
    }).pipe(
      Effect.timeoutOrElse({
        duration: LONGEST,
        orElse: () => Effect.fail(new StateConflict({ message: TOO_LONG })),
      }),
      unlessBusy,
    )
    if (Option.isNone(backtested))
      return yield* new RateLimited({ message: ANOTHER, retryAfterSeconds: RETRY_SECONDS })
    return policyTrial(backtested.value, { name: policyHash(present, hashing), since: from, until })
  })
})

const shownPolicy = (
  { document, receivers }: Policy,
  sending: ReadonlyMap<NotifierName, Notifier>,
  live: ReadonlyArray<ReplicaRecord>,
  hashing: Hashing["Service"],
  source: PolicySource,
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
  ...(source.source === "given" && { fixed: source.advice }),
})

const SHOWN_OCCURRENCES = 5

/** A text has up to 1 MiB. */
const VERSIONS_AT_ONCE = 10

const findFollowers = ({ replicas }: Storage["Service"]) =>
  Effect.fnUntraced(function* (hash: string) {
    const live = liveReplicas(yield* replicas, yield* Instant.now)
    const following = live.filter(({ policy_hash }) => policy_hash === hash)
    const others = live.length - following.length
    return { following: following.length, others, unusable: unusableReceivers(following) }
  })

/** One stored version, or the newest. */
const readVersion =
  ({ policyVersions }: Storage["Service"]) =>
  (version?: number) =>
    Effect.map(policyVersions(version === undefined ? 0 : version - 1, 1, version), ([found]) => found)

/** The last stored versions, the newest first; or one of them. */
const readVersions = (storage: Storage["Service"]) =>
  Effect.fnUntraced(function* ({ version, without_texts: isBrief = false }: VersionQuery = {}) {
    if (version !== undefined) {
      const found = yield* readVersion(storage)(version)
      return { items: found === undefined ? [] : [shownVersion(found, isBrief)] }
    }
    const items: Array<ReturnType<typeof shownVersion>> = []
    while (items.length < KEPT_VERSIONS) {
      const last = items.at(-1)
      const page = yield* storage.policyVersions(0, VERSIONS_AT_ONCE, last && last.version - 1)
      items.push(...page.map((each) => shownVersion(each, isBrief)))
      if (page.length < VERSIONS_AT_ONCE) break
    }
    return { items }
  })

type VersionQuery = Partial<typeof PolicyVersionParameters.Type>

const shownVersion = ({ text, ...version }: PolicyVersionRecord, isBrief: boolean) =>
  isBrief ? version : { ...version, text }

/** Windows, each with the one in force at a moment and the next, five in all. */
export const withOccurrences = (windows: Policy["windows"], now: Instant.Instant) =>
  windows.map((window) => ({ ...window, occurrences: nextOccurrences(window, now, SHOWN_OCCURRENCES) }))

const readWindows = ({ current }: PolicyInForce["Service"]) =>
  Effect.map(Instant.now, (now) => ({ items: withOccurrences(current().windows, now) }))

/** Puts policies in force with the notifiers of their receivers. */
const replacing = Effect.gen(function* () {
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

/** The policy in force, for operators (docs/rules.md#policy). */
export class Policies extends Context.Service<Policies>()("@tocsin/core/usecases/Policies", {
  make: Effect.gen(function* () {
    const inForce = yield* PolicyInForce
    const hashing = yield* Hashing
    const storage = yield* Storage
    const { current: sending } = yield* Receivers
    const source = yield* PolicySource
    const { begin, replace } = yield* replacing
    const { openWith, store, ...applying } = yield* applyingPolicies
    // Before anything is decided; the report to the other servers finds later ones.
    yield* inForce.giveElsewhere(givenReceivers(yield* storage.replicas, yield* Instant.now))
    const followed = yield* followStoredPolicy(inForce.given, { begin, replace })
    return {
      ...followed,
      ...applying,
      ...(yield* changingReceivers({ ...applying, openWith, store })),
      secrets: yield* secretOperations(followed.followedVersion),
      try: yield* tryingPolicy,
      /** The receivers of the policy in force that this process cannot use. */
      unavailable: () =>
        Array.from(inForce.current().unavailable ?? [], ([receiver, reason]) => ({ receiver, reason })),
      followers: findFollowers(storage),
      versions: readVersions(storage),
      version: readVersion(storage),
      /**
       * Puts another policy in force with the notifiers of its receivers, once the audit has it. Refused
       * while a server runs that would not follow it.
       */
      replace,
      /** Notifiers that a policy may name without defining them, at this moment. */
      given: inForce.given,
      /** Those of them that only other servers give. */
      elsewhere: inForce.elsewhere,
      /** Where the policy of this process comes from, which is how a new one is read. */
      source,
      /** The policy in force in this process, and what the live replicas follow. */
      current: Effect.zipWith(storage.replicas, Instant.now, (replicas, now) =>
        shownPolicy(inForce.current(), sending(), liveReplicas(replicas, now), hashing, source),
      ),
      windows: readWindows(inForce),
    }
  }),
}) {
  static readonly layer = Layer.effect(Policies, Policies.make)
}

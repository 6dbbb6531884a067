import { Array as Arr, Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { PolicyInForceState } from "@tocsin/contract/policy/PolicyInForce"
import type { PolicyVersionParameters } from "@tocsin/contract/policy/Policies"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import type { Notifier } from "../notifications/Notifiers.ts"
import { PolicySource } from "./PolicySource.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import { KEPT_VERSIONS, type PolicyVersionRecord } from "../model/PolicyVersionRecord.ts"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"
import { Receivers } from "../notifications/Receivers.ts"
import { policyHash } from "../policy/applyPolicy.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { nextOccurrences } from "../policy/occurrences.ts"
import { testedReceivers } from "../notifications/refusingReceivers.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { currentReceivers, unavailableReceivers, unusableReceivers } from "../replicas/listedReceivers.ts"
import { liveReplicas, policyHashes } from "../replicas/replicaState.ts"

const shownPolicy = (
  { document, receivers }: Policy,
  sending: ReadonlyMap<NotifierName, Notifier>,
  live: ReadonlyArray<ReplicaRecord>,
  hashing: Hashing["Service"],
  source: PolicySource,
  tested: ReadonlyMap<NotifierName, Instant.Instant>,
): PolicyInForceState => ({
  policy: document,
  hash: policyHash(document, hashing),
  receivers: Array.from(receivers, ([name, { kind: notifier }]) => {
    const [hint, tested_at] = [sending.get(name)?.hint, tested.get(name)]
    return {
      name,
      notifier,
      ...(!sending.has(name) && { unavailable: true as const }),
      ...(hint !== undefined && { hint }),
      ...(tested_at !== undefined && { tested_at }),
    }
  }).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
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

/** Windows whose occurrences are found in one turn of the event loop: some milliseconds. */
const WINDOWS_TOGETHER = 100

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
  Effect.gen(function* () {
    const now = yield* Instant.now
    // A policy may have thousands, of which each looks up the hours of its zone.
    const pieces = yield* Effect.forEach(Arr.chunksOf(current().windows, WINDOWS_TOGETHER), (piece) =>
      Effect.as(Effect.yieldNow, withOccurrences(piece, now)),
    )
    return { items: pieces.flat() }
  })

/** Operators' reads of the policy in force and of its versions. */
export const shownPolicies = Effect.gen(function* () {
  const inForce = yield* PolicyInForce
  const hashing = yield* Hashing
  const storage = yield* Storage
  const { current: sending } = yield* Receivers
  const source = yield* PolicySource
  return {
    /** The receivers of the policy in force that this process cannot use. */
    unavailable: () =>
      Array.from(inForce.current().unavailable ?? [], ([receiver, reason]) => ({ receiver, reason })),
    followers: findFollowers(storage),
    versions: readVersions(storage),
    version: readVersion(storage),
    /** Notifiers that a policy may name without defining them, at this moment. */
    given: inForce.given,
    /** Those of them that only other servers give. */
    elsewhere: inForce.elsewhere,
    /** Where the policy of this process comes from, which is how a new one is read. */
    source,
    /** The policy in force in this process, and what the live replicas follow. */
    current: Effect.gen(function* () {
      const live = liveReplicas(yield* storage.replicas, yield* Instant.now)
      const tested = yield* testedReceivers(storage, Array.from(inForce.current().receivers.keys()))
      return shownPolicy(inForce.current(), sending(), live, hashing, source, tested)
    }),
    windows: readWindows(inForce),
  }
})

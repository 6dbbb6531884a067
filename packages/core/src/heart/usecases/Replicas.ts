import { Context, Duration, Effect, Layer, Queue, Stream } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { AgentDownload } from "../../kernel/ports/AgentDownload.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { KNOWN_NAMES, unknownAmong } from "../replicas/knownNames.ts"
import { givenReceivers, outOfReach } from "../replicas/listedReceivers.ts"
import {
  compareReplicas,
  isNear,
  liveReplicas,
  mayDecide,
  type PolicyDifference,
  policyHashes,
  REPORT_EVERY,
} from "../replicas/replicaState.ts"
import { entriesOf } from "../policy/receiverEntries.ts"
import { endReplica, reportReplica } from "../replicas/reportReplica.ts"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"
import { systemSignature } from "../audit/recordAudit.ts"
import type { AuditId } from "@tocsin/contract/audit/Audit"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { keepRepeating } from "../../kernel/engine/commits/keepRepeating.ts"
import { StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { lastingReceivers, type Policy } from "../policy/compilePolicy.ts"
import { isEmptyPolicy, type PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { policyHash } from "../policy/applyPolicy.ts"
import { Recollection } from "./Recollection.ts"
import { Hashing, LinkSigner } from "../../kernel/ports/Hashing.ts"
import { Ids, newId } from "../../kernel/ports/Ids.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { Receivers } from "../notifications/Receivers.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { WatchProbes } from "../../kernel/ports/WatchProbes.ts"

/** The version of a process whose host program has one that is not known here. */
export const EMBEDDED = "embedded"

export const ReplicaVersion = Context.Reference<string>("@tocsin/core/usecases/ReplicaVersion", {
  defaultValue: () => EMBEDDED,
})

/** Whether a server of another version runs beside this one, as during a rolling upgrade. */
export const otherVersionRuns = (storage: Pick<Storage["Service"], "replicas">, version: string) =>
  Effect.zipWith(storage.replicas, Instant.now, (replicas, now) =>
    liveReplicas(replicas, now).some((replica) => replica.version !== version),
  )

/** Refuses what a running server does not know, as that of an earlier version during a rolling upgrade. */
export const refuseUnknown = Effect.fnUntraced(function* (
  storage: Pick<Storage["Service"], "replicas">,
  names: ReadonlyArray<string>,
) {
  const unknown = unknownAmong(names, yield* storage.replicas, yield* Instant.now)
  if (unknown === undefined) return
  return yield* new StateConflict({
    message: `a running server of version ${unknown.version} does not know ${unknown.name}: upgrade or stop it, then repeat this`,
  })
})

/** A notifier whose notifications other processes would not see. */
const ONLY_LOGS = "debug"

/** Enough of a digest to find a change of few entries. */
const DIGEST = 16

/** The row of this process among the replicas (docs/rules.md#replicas). */
export class ReplicaIdentity extends Context.Service<ReplicaIdentity>()(
  "@tocsin/core/usecases/ReplicaIdentity",
  {
    make: Effect.gen(function* () {
      const { transact } = yield* Commits
      const hashing = yield* Hashing
      const tokens = yield* LinkSigner
      const { current } = yield* Receivers
      const ids = yield* Ids
      const version = yield* ReplicaVersion
      const started_at = yield* Instant.now
      const id = ids.uuidV7(started_at)
      const system = systemSignature(newId<AuditId>(ids))
      // Hashing a large policy takes milliseconds.
      let hashed: { readonly document: PolicyDocument; readonly policy_hash: string } | undefined
      const changed = yield* Queue.unbounded<NotifierName>()
      /** How this process last reached each receiver, for changes that no row shows. */
      const reached = new Map<NotifierName, string>()
      const given = lastingReceivers(yield* RuleSettings).filter((name) => name !== ONLY_LOGS)
      const probes = (yield* WatchProbes) !== undefined
      const agent_sha256 = (yield* AgentDownload)?.sha256
      return {
        id,
        /** The receivers that are reached in other ways than before: they may work now. */
        changed,
        /**
         * Reports this process with a policy and its notifiers, those in force unless given; the signature is `system`
         * then. Returns all replicas, and the receivers that are to be `changed` once the policy is in force.
         */
        report: (policy: Policy, notifiers = current(), signature = system) =>
          Effect.suspend(() => {
            const { document, receivers: all, unavailable } = policy
            if (hashed?.document !== document)
              hashed = { document, policy_hash: policyHash(document, hashing) }
            const { policy_hash } = hashed
            const receivers = Array.from(all.keys())
            const process = { id, version, given, probes, agent_sha256, started_at, known_names: KNOWN_NAMES }
            const whole = entriesOf(policy, notifiers)
            // A digest without a key would show whoever reads the database which secrets are guessed right.
            const entries = new Map(
              Array.from(tokens ? whole : entriesOf(policy, new Map()), ([name, entry]) => [
                name,
                (tokens?.markOf ?? hashing.sha256)(entry).slice(0, DIGEST),
              ]),
            )
            const report = { ...process, policy_hash, receivers, entries, unavailable }
            const stored = transact(
              reportReplica({ ...report, isEmptyPolicy: isEmptyPolicy(document) }, signature),
            )
            return Effect.map(stored, ({ changed: found, replicas }) => {
              const others = new Set(found)
              for (const [name, entry] of whole) {
                if (unavailable?.has(name) === true) continue
                if ((reached.get(name) ?? entry) !== entry) others.add(name)
                reached.set(name, entry)
              }
              return { replicas, changed: others }
            })
          }),
        end: transact(endReplica(id)),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(ReplicaIdentity, ReplicaIdentity.make)
}

// The others see within a minute that this process is gone, and a stop must not wait for a storage.
const FAREWELL_WITHIN = Duration.seconds(1)

const DIFFERENT =
  "servers of this installation follow different policies: reload or restart those that differ"
const EQUAL = "all servers of this installation follow the same policy again"

/**
 * Reports this process in its row until the layer closes, compares its policy with those of the other
 * replicas, and renews it once they have ended (docs/rules.md#replicas).
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const policy = yield* PolicyInForce
    const replica = yield* ReplicaIdentity
    const compare = yield* makeComparison
    const renew = makeRenewal(policy)
    const { recollect } = yield* Recollection
    const report = Effect.gen(function* () {
      const current = policy.current()
      const { changed, replicas } = yield* replica.report(current)
      yield* Queue.offerAll(replica.changed, changed)
      yield* recollect(current, replicas)
      yield* compare(replicas)
      yield* renew(replicas)
    })
    const replaced = yield* Stream.toQueue(policy.replaced, { capacity: "unbounded" })
    yield* Effect.addFinalizer(() => replica.end.pipe(Effect.timeoutOption(FAREWELL_WITHIN), Effect.ignore))
    const pause = Effect.race(idlePause(REPORT_EVERY), Effect.orDie(Queue.take(replaced)))
    const complaint = "this server cannot report its policy to the others; Tocsin will retry"
    yield* Effect.forkScoped(keepRepeating(Effect.andThen(report, pause), complaint, pause))
  }),
).pipe(Layer.provide(Recollection.layer))

const listed = (receivers: ReadonlyMap<NotifierName, Instant.Instant>) =>
  Array.from(receivers).toSorted().join()

/** Warns while the policies of live replicas differ for long, and logs when they no longer do. */
const makeComparison = Effect.sync(() => {
  let difference: PolicyDifference | undefined
  return Effect.fnUntraced(function* (all: ReadonlyArray<ReplicaRecord>) {
    const now = yield* Instant.now
    const [next, notice] = compareReplicas(difference, all, now)
    difference = next
    if (notice === "equal") return yield* Effect.logInfo(EQUAL)
    if (notice === undefined) return
    const policies = liveReplicas(all, now)
      .map(({ policy_hash, version }) => `${policy_hash.slice(0, 8)} (${version})`)
      .toSorted()
      .join(", ")
    yield* Effect.annotateLogs(Effect.logWarning(DIFFERENT), { policies })
  })
})

/** A server that restarts gives its receivers again: incidents that open meanwhile notify them too. */
const GIVEN_FOR = Duration.minutes(2)

/**
 * Has the receivers of other servers' modules among every receiver. Puts the policy in force again once no replica
 * decides by another one: what another replica decided meanwhile, for example when to evaluate an incident, does not
 * follow it. And when rotas have other receivers out of reach.
 */
const makeRenewal = ({ current, giveElsewhere, replace }: PolicyInForce["Service"]) => {
  let isMixed = false
  const given = new Map<NotifierName, Instant.Instant>()
  return Effect.fnUntraced(function* (all: ReadonlyArray<ReplicaRecord>) {
    const now = yield* Instant.now
    for (const name of givenReceivers(all, now)) given.set(name, now)
    for (const [name, at] of given) if (!isNear(at, now, GIVEN_FOR)) given.delete(name)
    yield* giveElsewhere(given.keys())
    const wasMixed = isMixed
    isMixed = policyHashes(all.filter((replica) => mayDecide(replica, now))).length > 1
    const policy = current()
    const unusable = policy.rotas && outOfReach(policy.receivers.keys(), all, now)
    const isSame = unusable === undefined || listed(unusable) === listed(policy.unusable ?? new Map())
    if ((wasMixed && !isMixed) || !isSame) yield* replace({ ...policy, ...(unusable && { unusable }) })
  })
}

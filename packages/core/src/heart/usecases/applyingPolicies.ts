import { Effect, Queue, Semaphore } from "effect"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import type { FiringCount, PolicyIssue } from "@tocsin/contract/policy/Policies"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { policyNames } from "@tocsin/contract/policy/policyNames"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { currentSignature } from "../audit/recordAudit.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { countFirings, MOST_UNCONFIRMED } from "../evaluation/evaluateIncidents.ts"
import { findUnmatched } from "../overdue/unmatchedOverdue.ts"
import { applyPolicy, type ChangedReceiver, policyHash } from "../policy/applyPolicy.ts"
import { audienceWarnings } from "../policy/audienceWarnings.ts"
import { compileGiven, type Policy } from "../policy/compilePolicy.ts"
import { movedRotas } from "../policy/policyZones.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import type { OpenedSecrets, ReadSecrets } from "../policy/namedSecrets.ts"
import { matchersOf } from "../policy/policyWarnings.ts"
import type { Problems } from "../policy/problemsAt.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { Ids } from "../../kernel/ports/Ids.ts"
import { PolicySource } from "./PolicySource.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { Storage, type StorageError } from "../../kernel/ports/Storage.ts"
import type { Command } from "../../kernel/unitOfWork/Decision.ts"
import { refuseUnknown, ReplicaIdentity } from "./Replicas.ts"
import { unusableByAll } from "../replicas/listedReceivers.ts"
import { AnotherPolicy, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { invalidPolicy } from "./followStoredPolicy.ts"
import type { Notifier } from "../notifications/Notifiers.ts"
import { Receivers } from "../notifications/Receivers.ts"

/** Refuses a policy that was not confirmed, if it would send too many firings to a receiver. */
export const refuseMany = ([most]: ReadonlyArray<FiringCount>): Effect.Effect<void, StateConflict> =>
  most === undefined || most.count <= MOST_UNCONFIRMED
    ? Effect.void
    : Effect.fail(
        new StateConflict({
          message: `the policy would send ${most.count} firings to ${most.receiver} immediately: narrow its routes, or confirm it with --confirm, ?confirm=true or { confirm: true }`,
        }),
      )

/** Refuses a policy that was not confirmed, if no server can use some of its receivers. */
const refuseUnusable = (unusable: ReturnType<typeof unusableByAll>): Effect.Effect<void, StateConflict> => {
  const [first] = unusable
  if (first === undefined) return Effect.void
  const names = unusable.slice(0, MOST_NAMED).map(([name]) => name)
  return Effect.fail(
    new StateConflict({
      message: `no server could use ${unusable.length} of the receivers (${names.join(", ")}), as ${first[1]}; correct this, or confirm the policy with --confirm or ?confirm=true`,
    }),
  )
}
const MOST_NAMED = 5

/** The receivers that this process cannot use, and that no running server lists as usable. */
const findUnusable =
  ({ replicas: listed }: Storage["Service"]) =>
  (here: ReadonlyMap<NotifierName, string>) =>
    Effect.zipWith(listed, Instant.now, (replicas, now) => unusableByAll(here, replicas, now))

/** Functions that features hand in. */
interface Handed {
  /** Why receivers that are browsers reach nobody. */
  readonly unreachable: (document: PolicyDocument) => Effect.Effect<ReadonlyMap<NotifierName, string>>
  /** Warnings of operators that a policy names and nobody has created. */
  readonly unknownOperators: (document: PolicyDocument) => Effect.Effect<Problems, StorageError>
  readonly readSecrets: ReadSecrets
  /** Finds the overrides that do not count under a policy. */
  readonly findLostOverrides: (policy: Policy) => Command<Problems>
  readonly plainSecrets: {
    /** Refuses a policy that would expose stored secrets, except those that are given with it. */
    readonly prevent: (
      document: PolicyDocument,
      given?: NotifierName,
    ) => Effect.Effect<void, ValidationError | StorageError>
    /** The problems of a policy that would. */
    readonly issues: (document: PolicyDocument) => Effect.Effect<ReadonlyArray<PolicyIssue>, StorageError>
  }
}

/**
 * Warnings of changes of who is notified, of overrides that do not count under a policy, and of its matchers that
 * match no late check any more. `present` is the policy that it replaces.
 */
export const findLost = (
  storage: Storage["Service"],
  commits: Pick<Commits["Service"], "transact">,
  { findLostOverrides, unknownOperators }: Pick<Handed, "findLostOverrides" | "unknownOperators">,
) =>
  Effect.fnUntraced(function* (policy: Policy, present: Policy) {
    const unknown = yield* unknownOperators(policy.document)
    const lost = yield* commits.transact(findLostOverrides(policy))
    const unmatched = yield* findUnmatched(storage, commits, matchersOf(policy.document))
    const moved = movedRotas(present.document, policy.document)
    return [...audienceWarnings(present, policy), ...moved, ...lost, ...unknown, ...unmatched].map(
      ({ message, path }) => ({
        path: fieldPath(path),
        message,
      }),
    )
  })

/** Refuses a change of a receiver that was not confirmed, if others fall silent, speak again, or are all that is left. */
const refuseOtherAudience = (before: Policy, after: Policy): Effect.Effect<void, StateConflict> => {
  const changes = audienceWarnings(before, after).map(({ message, path }) => `${fieldPath(path)} ${message}`)
  return changes.length === 0
    ? Effect.void
    : Effect.fail(new StateConflict({ message: `${changes.join("; ")}; confirm that with ?confirm=true` }))
}

export const ANOTHER =
  "another policy is in force: compare yours with tocsin policy get or GET /ops/v1/policy, and apply it again"

export interface Application {
  readonly replaces?: string | undefined
  readonly confirm: boolean
  /** The version whose text was changed; absent if the policy is given as a whole. */
  readonly of?: number
}

/** Functions that store a policy for all servers, and state beforehand what it would send and change. */
export const applyingPolicies = Effect.fnUntraced(function* ({
  plainSecrets,
  readSecrets,
  unreachable,
  ...finders
}: Handed) {
  const inForce = yield* PolicyInForce
  const hashing = yield* Hashing
  const storage = yield* Storage
  const { transact } = yield* Commits
  const source = yield* PolicySource
  const ids = yield* Ids
  const given = yield* RuleSettings
  const firings = (policy: Policy) => countFirings(storage, { transact }, { ...given, policy: () => policy })
  const warningsOf = findLost(storage, { transact }, finders)
  const lost = (policy: Policy) => warningsOf(policy, inForce.current())
  const unusable = findUnusable(storage)
  /** The secrets that a policy names: the given ones, or else the stored ones. */
  const openWith = (document: PolicyDocument, values: OpenedSecrets = new Map()) =>
    Effect.map(readSecrets(document), ({ open }): OpenedSecrets => new Map([...open(), ...values]))
  /** Why this server could not use receivers of a policy, with the given secrets beside the stored ones. */
  const unavailableUnder = Effect.fnUntraced(function* (document: PolicyDocument, values?: OpenedSecrets) {
    if (source.source === "given") return undefined
    const opened = yield* openWith(document, values)
    return new Map([...(yield* source.unavailable(document, opened)), ...(yield* unreachable(document))])
  })
  const none = policyHash({}, hashing)

  const store = Effect.fnUntraced(function* (
    { document, text }: { readonly document: PolicyDocument; readonly text: string },
    { confirm, of, replaces }: Application,
    receiver?: ChangedReceiver,
    values?: OpenedSecrets,
  ) {
    if (source.source === "given") return yield* new StateConflict({ message: source.advice })
    yield* refuseUnknown(storage, policyNames(document))
    yield* plainSecrets.prevent(document, receiver?.stores && values?.keys().next().value)
    const policy = compileGiven(document, inForce.given())
    const counts = yield* firings(policy)
    const warnings = yield* lost(policy)
    if (!confirm) {
      if (receiver !== undefined) yield* refuseOtherAudience(inForce.current(), policy)
      const broken = yield* unusable((yield* unavailableUnder(document, values)) ?? new Map())
      // A change of one receiver leaves the others as they are.
      yield* refuseUnusable(broken.filter(([name]) => receiver === undefined || name === receiver.name))
      yield* refuseMany(counts)
    }
    const hash = policyHash(document, hashing)
    const signature = yield* currentSignature(ids)
    const applied = yield* transact(applyPolicy({ hash, of, text, replaces, receiver }, none, signature))
    if (applied.outcome === "another") return yield* new AnotherPolicy({ message: ANOTHER })
    if (applied.outcome === "refused") return yield* new StateConflict({ message: applied.message })
    return { ...applied.version, firings: counts, ...(warnings.length > 0 && { warnings }) }
  })

  return {
    /**
     * Stores a policy for all servers, and puts it in force in none: `follow` does. `replaces` is the
     * hash of the one that it must replace. Without `confirm`, {@link refuseUnusable} and {@link refuseMany} apply.
     */
    apply: Effect.fn("Policies.apply")(function* (text: string, application: Application) {
      if (source.source === "given") return yield* new StateConflict({ message: source.advice })
      const document = yield* Effect.mapError(source.read(text, inForce.elsewhere()), invalidPolicy)
      return yield* store({ document, text }, application)
    }),
    /** Counts the firings that each receiver would get immediately under a policy. */
    firings,
    lost,
    unusable,
    unavailableUnder,
    plainSecrets,
    openWith,
    store,
  }
})

/** Stores a policy that was read, and the secrets of a receiver with it. */
export type StorePolicy = Pick<
  Effect.Success<ReturnType<typeof applyingPolicies>>,
  "openWith" | "plainSecrets" | "store"
>

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
      const { changed } = yield* replica.report(policy, notifiers, yield* currentSignature(ids))
      yield* begin(policy, notifiers)
      yield* Queue.offerAll(replica.changed, changed)
    }).pipe(Effect.uninterruptible, inTurn)
  return { begin, replace }
})

import { Effect } from "effect"
import { fieldPath } from "@tocsin/contract/describeIssue"
import * as Instant from "@tocsin/contract/Instant"
import type { FiringCount } from "@tocsin/contract/Policies"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/Status"
import { currentSignature } from "../audit/Signature.ts"
import { Commits } from "../engine/commits/Commits.ts"
import { countFirings, MOST_UNCONFIRMED } from "../evaluation/evaluateIncidents.ts"
import { findUnmatched } from "../expectations/unmatchedOverdue.ts"
import { findLostOverrides } from "../onCall/overrideDecisions.ts"
import { applyPolicy, type ChangedReceiver, policyHash } from "../policy/applyPolicy.ts"
import { audienceWarnings } from "../policy/audienceWarnings.ts"
import { compileGiven, type Policy } from "../policy/compilePolicy.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { matchersOf } from "../policy/policyWarnings.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids } from "../ports/Ids.ts"
import { PolicySource } from "../ports/PolicySource.ts"
import { type OpenedSecrets, SecretCipher } from "../ports/SecretCipher.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage } from "../ports/Storage.ts"
import { listLines } from "../publicPages/lineChecks.ts"
import { unusableByAll } from "../replicas/listedReceivers.ts"
import { AnotherPolicy, StateConflict } from "./OperationErrors.ts"
import { refusingPlainSecrets } from "./plainSecrets.ts"
import { namedSecretsReader, TOO_MANY } from "./Secrets.ts"
import { invalidPolicy } from "./followStoredPolicy.ts"

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
      message: `no server could use ${unusable.length} of the receivers (${names.join(", ")}), as ${first[1]}: give them their secrets, or confirm the policy with --confirm or ?confirm=true`,
    }),
  )
}
const MOST_NAMED = 5

/** The receivers that this process cannot use, and that no running server lists as usable. */
const findUnusable =
  ({ replicas: listed }: Storage["Service"]) =>
  (here: ReadonlyMap<NotifierName, string>) =>
    Effect.zipWith(listed, Instant.now, (replicas, now) => unusableByAll(here, replicas, now))

/**
 * Warnings of changes of who is notified, of overrides that do not count under a policy, and of its matchers that
 * match no overdue check any more. `present` is the policy that it replaces.
 */
export const findLost = (storage: Storage["Service"], commits: Pick<Commits["Service"], "transact">) =>
  Effect.fnUntraced(function* (policy: Policy, present: Policy) {
    const lost = yield* commits.transact(findLostOverrides(policy))
    const unmatched = yield* findUnmatched(storage, commits, matchersOf(policy.document))
    return [...audienceWarnings(present, policy), ...lost, ...unmatched].map(({ message, path }) => ({
      path: fieldPath(path),
      message,
    }))
  })

/** Refuses a change of a receiver that was not confirmed, if others fall silent, speak again, or are all that is left. */
const refuseSilence = (before: Policy, after: Policy): Effect.Effect<void, StateConflict> => {
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
}

/** Makes what stores policies for all servers, and says what one would send and change before it does. */
export const applyingPolicies = Effect.gen(function* () {
  const inForce = yield* PolicyInForce
  const hashing = yield* Hashing
  const storage = yield* Storage
  const { transact } = yield* Commits
  const source = yield* PolicySource
  const ids = yield* Ids
  const given = yield* RuleSettings
  const firings = (policy: Policy) => countFirings(storage, { transact }, { ...given, policy: () => policy })
  const warningsOf = findLost(storage, { transact })
  const lost = (policy: Policy) => warningsOf(policy, inForce.current())
  const unusable = findUnusable(storage)
  const cipher = yield* SecretCipher
  const readSecrets = namedSecretsReader(storage, cipher)
  /** The secrets that a policy names: the given ones, or else the stored ones. */
  const openWith = (document: PolicyDocument, values: OpenedSecrets = new Map()) =>
    Effect.map(readSecrets(document), ({ open }): OpenedSecrets => new Map([...open(), ...values]))
  const plainSecrets = refusingPlainSecrets(inForce, storage)
  const none = policyHash({}, hashing)
  const lines = (document: PolicyDocument) => listLines(storage, hashing.sha256, document)

  const store = Effect.fnUntraced(function* (
    { document, text }: { readonly document: PolicyDocument; readonly text: string },
    { confirm, replaces }: Application,
    receiver?: ChangedReceiver,
    values?: OpenedSecrets,
  ) {
    if (source.source === "given") return yield* new StateConflict({ message: source.advice })
    yield* plainSecrets.prevent(document, receiver?.stores?.name)
    const policy = compileGiven(document, inForce.given())
    const counts = yield* firings(policy)
    const warnings = yield* lost(policy)
    if (!confirm) {
      if (receiver !== undefined) yield* refuseSilence(inForce.current(), policy)
      const opened = yield* openWith(document, values)
      const broken = yield* unusable(yield* source.unavailable(document, opened))
      // A change of one receiver leaves the others as they are.
      yield* refuseUnusable(broken.filter(([name]) => receiver === undefined || name === receiver.name))
      yield* refuseMany(counts)
    }
    const hash = policyHash(document, hashing)
    const signature = yield* currentSignature(ids)
    const applied = yield* transact(applyPolicy({ hash, text, replaces, receiver }, none, signature))
    if (applied.outcome === "another") return yield* new AnotherPolicy({ message: ANOTHER })
    if (applied.outcome === "too_many_secrets") return yield* new StateConflict({ message: TOO_MANY })
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
    lines,
    unusable,
    plainSecrets,
    openWith,
    store,
  }
})

/** Stores a policy that was read, and the secrets of a receiver with it. */
export type StorePolicy = Pick<Effect.Success<typeof applyingPolicies>, "openWith" | "plainSecrets" | "store">

import { Predicate, Record, Schema } from "effect"
import { recordAudit, type Signature } from "../audit/recordAudit.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { type Decision, load, loneCommandOf, type LoneDecision } from "../../kernel/unitOfWork/Decision.ts"
import { KEPT_VERSIONS, type PolicyVersionRecord } from "../model/PolicyVersionRecord.ts"
import type { Hashing } from "../../kernel/ports/Hashing.ts"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"

/** A receiver as it was changed in the text of a stored version. */
export interface ChangedReceiver {
  readonly name: NotifierName
  readonly action: "receiver.changed" | "receiver.removed"
  /** Its secrets, to store with the policy: why they cannot be, or nothing. */
  readonly stores?: ((unit: UnitOfWork, by: Signature) => Decision<string | undefined>) | undefined
  /** Deletes its secrets with it. */
  readonly drops?: ((unit: UnitOfWork, by: Signature) => Decision<unknown>) | undefined
}

/** A valid policy to apply, and the hash of the one that it replaces, if that is required. */
export interface PolicyToApply extends Pick<PolicyVersionRecord, "hash" | "text"> {
  readonly replaces: string | undefined
  /** The version whose text was changed; 0 for none. Absent if the policy is given as a whole. */
  readonly of?: number | undefined
  readonly receiver?: ChangedReceiver | undefined
}

/** The stored version, or the hash of the present one, which is not the required one. */
export type AppliedPolicy =
  | { readonly outcome: "applied"; readonly version: PolicyVersionRecord }
  | { readonly outcome: "another"; readonly hash: string }
  | { readonly outcome: "refused"; readonly message: string }

/**
 * Stores a policy as the newest version, unless that has the same text already. `none` is the hash
 * of the policy without rules, which is in force before the first version.
 */
export const applyPolicy = loneCommandOf(function* (
  unit,
  { hash, of, receiver, replaces, text }: PolicyToApply,
  none: string,
  signature: Signature,
): LoneDecision<AppliedPolicy> {
  const newest = yield* find("newestPolicy", undefined)
  const { drops, stores } = receiver ?? {}
  if (newest?.text === text && stores === undefined) return { outcome: "applied", version: newest }
  const former = newest?.hash ?? none
  const newestVersion = newest?.version ?? 0
  // Another text may have the same hash: comments are no part of it.
  const isAnother = of !== undefined && of !== newestVersion
  if (isAnother || (replaces !== undefined && replaces !== former))
    return { outcome: "another", hash: former }
  const refusal = stores && (yield* stores(unit, signature))
  if (refusal !== undefined) return { outcome: "refused", message: refusal }
  if (newest?.text === text) return { outcome: "applied", version: newest }
  if (drops !== undefined) yield* drops(unit, signature)
  const version = newestVersion + 1
  const row = { version, hash, text, applied_at: unit.now, applied_by: signature.actor }
  yield* load(unit, { rows: { policy_version: [version, version - KEPT_VERSIONS] } })
  const versions = unit.of("policy_version")
  versions.put(row)
  versions.delete(version - KEPT_VERSIONS)
  recordAudit(unit, signature, "policy.applied", [hash], { version, former, text })
  if (receiver !== undefined) recordAudit(unit, signature, receiver.action, [receiver.name], { version })
  return { outcome: "applied", version: row }
})

const encode = Schema.encodeSync(PolicyDocument)

/** Kept, because the hash of a policy of a megabyte takes 40 ms. */
const hashes = new WeakMap<Hashing["Service"]["sha256"], WeakMap<PolicyDocument, string>>()

/** Names a policy: the same for every way to write the same document. */
export const policyHash = (document: PolicyDocument, { sha256 }: Hashing["Service"]): string => {
  const known = hashes.get(sha256) ?? new WeakMap<PolicyDocument, string>()
  hashes.set(sha256, known)
  const hash = known.get(document) ?? sha256(JSON.stringify(sorted(encode(document))))
  known.set(document, hash)
  return hash
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!Predicate.isObject(value)) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Record.fromEntries(entries.map(([key, part]) => [key, sorted(part)]))
}

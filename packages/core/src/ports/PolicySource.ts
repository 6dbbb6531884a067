import { Context, type Effect } from "effect"
import type { HeldCount, PolicyIssue } from "@tocsin/contract/Policies"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/Status"
import type { Notifier, TestReceipt } from "./Notifiers.ts"
import type { OpenedSecrets } from "./SecretCipher.ts"
import type * as Instant from "@tocsin/contract/Instant"
import type { RuleOptions } from "./RuleSettings.ts"
import type { StorageError } from "./Storage.ts"

/** A stored policy, and how it breaks rules of this version without harm: an earlier one took it. */
export interface FollowedPolicy {
  readonly document: PolicyDocument
  readonly outdated: ReadonlyArray<PolicyIssue>
}

/** The entry of a receiver, as a policy writes it; absent to remove the receiver. */
export interface ReceiverChange {
  readonly name: NotifierName
  readonly receiver: unknown
}

/** How this process reads the policy that the storage keeps (docs/rules.md#a-stored-policy). */
interface StoredPolicySource {
  readonly source: "stored"
  /**
   * Reads a new text, and opens nothing that it names. It may name only what this process could read, and the
   * receivers that live servers give `elsewhere`.
   */
  readonly read: (
    text: string,
    elsewhere: ReadonlyArray<NotifierName>,
  ) => Effect.Effect<PolicyDocument, ReadonlyArray<PolicyIssue>>
  /** Changes one receiver in a text, of which the rest stays as it is, and reads it as a new one. */
  readonly edit: (
    text: string,
    change: ReceiverChange,
    elsewhere: ReadonlyArray<NotifierName>,
  ) => Effect.Effect<{ readonly text: string; readonly document: PolicyDocument }, ReadonlyArray<PolicyIssue>>
  /** Reads the text that the storage keeps. */
  readonly follow: (text: string) => Effect.Effect<FollowedPolicy, ReadonlyArray<PolicyIssue>>
  /** The notifiers of its receivers, and why those have none whose secrets cannot be read here. */
  readonly notifiers: (
    document: PolicyDocument,
    secrets: OpenedSecrets,
  ) => Effect.Effect<{
    readonly made: ReadonlyMap<NotifierName, Notifier>
    readonly unavailable: ReadonlyMap<NotifierName, string>
  }>
  /** Sends a test message to the only receiver of a document, which nothing keeps. */
  readonly test: (document: PolicyDocument, stored: OpenedSecrets) => Effect.Effect<TestReceipt>
  /** Why this process could not use some of its receivers. */
  readonly unavailable: (
    document: PolicyDocument,
    secrets: OpenedSecrets,
  ) => Effect.Effect<ReadonlyMap<NotifierName, string>>
}

/** Another place decides: a file, or the program around. */
interface GivenPolicySource {
  readonly source: "given"
  /** Why a policy cannot be applied, and what to do instead. */
  readonly advice: string
  /** Reads the text that the storage keeps for other servers; absent where this process reads none. */
  readonly follow?: StoredPolicySource["follow"]
}

/** Where the policy of this process comes from. */
export type PolicySource = StoredPolicySource | GivenPolicySource

/** {@link PolicySource}; the program decides unless another one is provided. */
export const PolicySource = Context.Reference<PolicySource>("@tocsin/core/ports/PolicySource", {
  defaultValue: () => ({
    source: "given",
    advice: "the program that contains this Tocsin decides on its policy: use its setPolicy",
  }),
})

/** A policy with the receivers that it does not define. */
export type BacktestedPolicy = Pick<RuleOptions, "policy" | "notifiers">

export interface PolicyCounts {
  /** Firings and resolutions by receiver; every receiver of the policy is there. */
  readonly messages: ReadonlyMap<NotifierName, number>
  readonly held: ReadonlyArray<HeldCount>
}

/** A summary of the history that was read. */
export interface ReadPast {
  readonly results: number
  /** The oldest result; absent without one. */
  readonly from: Instant.Instant | undefined
}

export interface BacktestRequest extends Pick<RuleOptions, "staleAfter"> {
  readonly inForce: BacktestedPolicy
  readonly tried: BacktestedPolicy
  /** Messages are counted from here on. */
  readonly since: Instant.Instant
  readonly until: Instant.Instant
  /** How many results are read at most: the newest. */
  readonly most: number
}

export interface Backtested {
  readonly inForce: PolicyCounts
  readonly tried: PolicyCounts
  readonly past: ReadPast
}

/**
 * Plays two policies on the history of the storage, beside the work of this process; interruption ends
 * it. Absent where the history cannot be read apart from the service (docs/rules.md#policy).
 */
export type PolicyBacktest = (request: BacktestRequest) => Effect.Effect<Backtested, StorageError>

export const PolicyBacktest = Context.Reference<PolicyBacktest | undefined>(
  "@tocsin/core/ports/PolicyBacktest",
  { defaultValue: () => undefined },
)

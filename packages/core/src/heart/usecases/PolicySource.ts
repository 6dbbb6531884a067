import { Context, type Effect } from "effect"
import type { PolicyPatch } from "@tocsin/contract/policy/PolicyPatch"
import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { Notifier, TestReceipt } from "../notifications/Notifiers.ts"
import type { OpenedSecrets } from "../policy/namedSecrets.ts"

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

/** Why a patch cannot be made: one of its tests fails, or it does not fit the text. */
export interface PatchRefusal {
  readonly isConflict: boolean
  readonly message: string
}

/** A text with changes made. It has problems, or is a document. */
export interface ReadPatch {
  readonly text: string
  readonly document?: PolicyDocument | undefined
  readonly issues: ReadonlyArray<PolicyIssue>
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
  /** Makes changes in a text, of which the rest stays as it is, and reads it as a new one. An empty one has no rules. */
  readonly patch: (
    text: string,
    patch: PolicyPatch,
    elsewhere: ReadonlyArray<NotifierName>,
  ) => Effect.Effect<ReadPatch, PatchRefusal>
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
  readonly test: (
    document: PolicyDocument,
    stored: OpenedSecrets,
    bind: (notifier: Notifier) => Notifier,
  ) => Effect.Effect<TestReceipt>
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
export const PolicySource = Context.Reference<PolicySource>("@tocsin/core/heart/usecases/PolicySource", {
  defaultValue: () => ({
    source: "given",
    advice: "the program that contains this Tocsin decides on its policy: use its setPolicy",
  }),
})

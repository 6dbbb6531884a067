import { Context, type Effect } from "effect"
import type { PolicyIssue } from "@tocsin/contract/Policies"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/Status"
import type { Notifier } from "./Notifiers.ts"

/** How this process reads the policy that the storage keeps (docs/rules.md#a-stored-policy). */
interface StoredPolicySource {
  readonly source: "stored"
  /** Reads a text, and opens nothing that it names. A new one may name only what this process could read. */
  readonly read: (text: string, isNew: boolean) => Effect.Effect<PolicyDocument, ReadonlyArray<PolicyIssue>>
  /** The notifiers of its receivers, and why those have none whose secrets cannot be read here. */
  readonly notifiers: (document: PolicyDocument) => Effect.Effect<{
    readonly made: ReadonlyMap<NotifierName, Notifier>
    readonly unavailable: ReadonlyMap<NotifierName, string>
  }>
}

/** Another place decides: a file, or the program around. */
interface GivenPolicySource {
  readonly source: "given"
  /** Why a policy cannot be applied, and what to do instead. */
  readonly advice: string
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

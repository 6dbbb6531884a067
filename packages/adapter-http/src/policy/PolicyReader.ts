import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import type { PolicyNotifiers } from "@tocsin/core/heart/policy/compilePolicy"
import { Context, Effect } from "effect"

/** Reads the text of a policy, without the secrets that it names: its problems are by line. */
type PolicyReader = (
  text: string,
  given: PolicyNotifiers,
) => Effect.Effect<PolicyDocument, ReadonlyArray<PolicyIssue>>

/** {@link PolicyReader}. It reads where it is called, unless the process has a thread for long texts. */
export const PolicyReader = Context.Reference<PolicyReader>("@tocsin/adapter-http/policy/PolicyReader", {
  defaultValue: () => (text, given) =>
    Effect.flatMap(
      // The parser of YAML is loaded by the first policy that is read.
      Effect.promise(() => import("./readPolicyText.ts")),
      ({ readPolicyText }) => Effect.fromResult(readPolicyText(text, given)),
    ),
})

import { readBoundedFile } from "@tocsin/adapter-notify/readBoundedFile"
import type { PolicyText } from "@tocsin/adapter-http/policy/readPolicyText"
import type { PolicyNotifiers } from "@tocsin/core/policy/compilePolicy"
import type { PolicyIssue } from "@tocsin/contract/Policies"
import { Effect, Result } from "effect"

/** Reads a policy file of at most 1 MiB, without the secrets that it names. */
export const readPolicyFile = Effect.fnUntraced(function* (
  file: string,
  given: PolicyNotifiers,
): Effect.fn.Return<PolicyText, ReadonlyArray<PolicyIssue>> {
  // The parser of YAML is loaded by the first policy that is read.
  const { MAX_POLICY_BYTES, readPolicyText } = yield* Effect.promise(
    () => import("@tocsin/adapter-http/policy/readPolicyText"),
  )
  const read = Result.try(() => readBoundedFile(file, MAX_POLICY_BYTES))
  if (Result.isFailure(read)) return yield* refuse("cannot be read: check that it exists and is readable")
  if (read.success === undefined) return yield* refuse("is larger than 1 MiB")
  return yield* Effect.fromResult(readPolicyText(read.success, given))
})

const refuse = (message: string) => Effect.fail([{ path: "", line: 1, message }])

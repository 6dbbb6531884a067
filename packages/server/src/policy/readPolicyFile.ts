import { readBoundedFile } from "@tocsin/adapter-notify/readBoundedFile"
import type { PolicyText } from "@tocsin/adapter-http/policy/readPolicyText"
import type { PolicyNotifiers } from "@tocsin/core/policy/compilePolicy"
import type { PolicyIssue } from "@tocsin/contract/Policies"
import { Effect, Result } from "effect"

// The parser of YAML is loaded by the first policy that is read.
const parser = Effect.promise(() => import("@tocsin/adapter-http/policy/readPolicyText"))

/** Reads the text of a policy file of at most 1 MiB. */
export const readPolicyFileText = Effect.fnUntraced(function* (
  file: string,
): Effect.fn.Return<string, ReadonlyArray<PolicyIssue>> {
  const { MAX_POLICY_BYTES } = yield* parser
  const read = Result.try(() => readBoundedFile(file, MAX_POLICY_BYTES))
  if (Result.isFailure(read)) return yield* refuse("cannot be read: check that it exists and is readable")
  return read.success ?? (yield* refuse("is larger than 1 MiB"))
})

/** Reads a policy file of at most 1 MiB. */
export const openPolicyFile = Effect.fnUntraced(function* (
  file: string,
  given: PolicyNotifiers,
): Effect.fn.Return<PolicyText, ReadonlyArray<PolicyIssue>> {
  const text = yield* readPolicyFileText(file)
  const { openPolicyText } = yield* parser
  return yield* Effect.fromResult(openPolicyText(text, given))
})

/** Reads a policy file without the secrets that it names. */
export const readPolicyFile = (file: string, given: PolicyNotifiers) =>
  Effect.flatMap(openPolicyFile(file, given), ({ accept }) => Effect.fromResult(accept([])))

const refuse = (message: string) => Effect.fail([{ path: "", line: 1, message }])

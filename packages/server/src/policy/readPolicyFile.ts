import { MAX_POLICY_BYTES, type PolicyText, readPolicyText } from "@tocsin/adapter-http/policy/readPolicyText"
import { readBoundedFile } from "@tocsin/adapter-notify/readBoundedFile"
import type { PolicyNotifiers } from "@tocsin/core/policy/compilePolicy"
import type { PolicyIssue } from "@tocsin/contract/Policies"
import { Result } from "effect"

/** Reads a policy file of at most 1 MiB, without the secrets that it names. */
export const readPolicyFile = (
  file: string,
  given: PolicyNotifiers,
): Result.Result<PolicyText, ReadonlyArray<PolicyIssue>> => {
  const read = Result.try(() => readBoundedFile(file, MAX_POLICY_BYTES))
  if (Result.isFailure(read)) return refuse("cannot be read: check that it exists and is readable")
  return read.success === undefined ? refuse("is larger than 1 MiB") : readPolicyText(read.success, given)
}

const refuse = (message: string) => Result.fail([{ path: "", line: 1, message }])

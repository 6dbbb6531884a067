import type { AppliedPolicy, PatchedPolicy, PolicyCheck, PolicyInForce } from "@tocsin/client"
import { changePolicy } from "./policyActions.ts"
import type { Operation } from "./policyEntries.ts"
import { call } from "./session.ts"

const PATH = "ops/v1/policy"

const options = (policy: PolicyInForce, body: ReadonlyArray<Operation>) => ({
  body,
  contentType: "application/json-patch+json",
  ifMatch: policy.hash,
})

/** The problems of a change, or whom it would notify at once; nothing is stored. */
export const previewOf = async (
  policy: PolicyInForce,
  operations: ReadonlyArray<Operation>,
): Promise<PolicyCheck> => {
  const query = { dry_run: true }
  const { text } = await call<PatchedPolicy>("PATCH", PATH, { ...options(policy, operations), query })
  return call<PolicyCheck>("POST", `${PATH}/check`, { body: text })
}

/** Stores a change of the policy's text. */
export const applyChange = (
  policy: PolicyInForce,
  operations: ReadonlyArray<Operation>,
): Promise<AppliedPolicy | undefined> => changePolicy("PATCH", PATH, options(policy, operations))

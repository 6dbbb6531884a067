import type { AppliedPolicy, PatchedPolicy, PolicyCheck, PolicyInForce } from "@tocsin/client"
import { ApiFailure } from "../api/ApiFailure.ts"
import type { RequestOptions } from "../api/request.ts"
import { call } from "./session.ts"
import { confirmed } from "./useAction.ts"
import type { Operation } from "./policyEntries.ts"

const PATH = "ops/v1/policy"

const patch = (policy: PolicyInForce, body: ReadonlyArray<Operation>) => ({
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
  const { text } = await call<PatchedPolicy>("PATCH", PATH, { ...patch(policy, operations), query })
  return call<PolicyCheck>("POST", `${PATH}/check`, { body: text })
}

/** Stores a change of the policy's text. */
export const applyChange = (
  policy: PolicyInForce,
  operations: ReadonlyArray<Operation>,
): Promise<AppliedPolicy | undefined> => changePolicy("PATCH", PATH, patch(policy, operations))

/** The end of a refusal that a confirmation lifts: how programs confirm. */
const CONFIRMATION = /[,;:]?(?: or)? confirm [^;]*confirm[=:][^;]*$/

/** Changes the policy in force. What the service does only with a confirmation, it asks first. */
export const changePolicy = async (
  method: "PATCH" | "PUT" | "DELETE",
  path: string,
  options: RequestOptions,
): Promise<AppliedPolicy | undefined> => {
  try {
    return await call<AppliedPolicy>(method, path, options)
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 409 || !CONFIRMATION.test(error.message))
      throw error
    const reason = error.message.replace(CONFIRMATION, "")
    const question = `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`
    if (!(await confirmed(question, "Do it all the same"))) return undefined
    return await call<AppliedPolicy>(method, path, { ...options, query: { confirm: true } })
  }
}

/** The firings that a policy sends as soon as it is in force, after who sends them; nothing where there are none. */
export const firingsText = (firings: AppliedPolicy["firings"] = [], sender: string): string =>
  firings.length === 0
    ? ""
    : `; ${sender} sends immediately: ${firings.map(({ count, receiver }) => `${count} to ${receiver}`).join(", ")}`

import type { AppliedPolicy, PatchedPolicy, PolicyCheck, PolicyInForce } from "@tocsin/client"
import { changePolicy } from "./policyActions.ts"
import type { PolicyItem } from "./policyText.ts"
import { call } from "./session.ts"

const PATH = "ops/v1/policy"

/** A change of the policy's text (RFC 6902). */
export interface Operation {
  readonly op: "add" | "replace"
  readonly path: string
  readonly value: unknown
}

const pointer = (...names: ReadonlyArray<string>): string =>
  names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

/** Writes an item: in the place of a former one of its name or position, else below the others of its key. */
export const operationsOf = (policy: object, item: PolicyItem, former?: string): ReadonlyArray<Operation> => {
  const { key, name, value } = item
  const present: unknown = Reflect.get(policy, key)
  if (former !== undefined) return [{ op: "replace", path: pointer(key, former), value }]
  if (present === undefined)
    return [{ op: "add", path: pointer(key), value: name === undefined ? [value] : { [name]: value } }]
  return [{ op: "add", path: pointer(key, name ?? "-"), value }]
}

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

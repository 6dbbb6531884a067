import { Effect } from "effect"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { completeReceivers } from "@tocsin/contract/receivers/mailServer"
import { storedNameOf } from "@tocsin/contract/receivers/ReceiverSecrets"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { invalidPolicy } from "../../heart/usecases/followStoredPolicy.ts"

const EXPOSED =
  "would send stored secrets without TLS that no receiver sends so yet: give them again as values of PUT /ops/v1/receivers/NAME"

/** The receivers of a policy that send secrets without TLS, by the names of these. */
const sendingPlainly = (document: PolicyDocument) =>
  new Map(
    Object.entries(completeReceivers(document)).flatMap(([receiver, definition]) => {
      const name = storedNameOf(definition)
      return name !== undefined && "tls" in definition && definition.tls === "off" ? [[name, receiver]] : []
    }),
  )

/**
 * Returns checks that refuse a policy which sends stored secrets without TLS, unless the policy in force does so
 * already (docs/rules.md#stored-secrets).
 */
export const refusingPlainSecrets = (
  { current }: PolicyInForce["Service"],
  { rows }: Pick<Storage["Service"], "rows">,
) => {
  /** The problems of a policy. Secrets that are given with it are not kept. */
  const issues = Effect.fnUntraced(function* (document: PolicyDocument, given?: NotifierName) {
    const before = sendingPlainly(current().document)
    const begun = Array.from(sendingPlainly(document)).filter(([name]) => !before.has(name) && name !== given)
    if (begun.length === 0) return []
    const stored = yield* rows(
      "receiver_secrets",
      Array.from(begun, ([name]) => name),
    )
    const kept = new Set(stored.map(({ name }) => name))
    return begun.flatMap(([name, receiver]): ReadonlyArray<PolicyIssue> =>
      kept.has(name) ? [{ line: 1, path: fieldPath(["receivers", receiver, "tls"]), message: EXPOSED }] : [],
    )
  })
  const prevent = (document: PolicyDocument, given?: NotifierName) =>
    Effect.flatMap(issues(document, given), (found) =>
      found.length === 0 ? Effect.void : Effect.fail(invalidPolicy(found)),
    )
  return { issues, prevent }
}

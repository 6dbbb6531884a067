import { Schema, SchemaTransformation } from "effect"
import { named, optional } from "../formats/Fields.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { flag } from "../v1/Parameters.ts"
import { NotifierName } from "../formats/Status.ts"
import { UnavailableReceiver } from "./PolicyInForce.ts"
import { CheckedLine } from "../publicPages/CheckedLine.ts"

const FiringCount = Schema.Struct({
  receiver: NotifierName,
  count: Schema.Int,
}).annotate(named("FiringCount", "Firings of one receiver."))
/** The firings that a receiver gets immediately under another policy. */
export type FiringCount = typeof FiringCount.Type

const firings = Schema.Array(FiringCount).annotateKey({
  description: "The firings of open incidents that each receiver gets immediately, the most first.",
})

export const PolicyApplicationParameters = Schema.Struct({
  confirm: flag(
    "Whether a receiver may get more than 100 firings immediately, and be one that no server can use.",
  ),
})

export const PolicyPatchParameters = Schema.Struct({
  ...PolicyApplicationParameters.fields,
  dry_run: flag("Whether the text is answered as it would be, and nothing is stored."),
})

const PolicyVersion = Schema.Struct({
  version: Schema.Int.annotateKey({
    description:
      "Counts from 1; the greatest one is in force. 0: none is stored, as a change has changed nothing.",
  }),
  hash: Schema.String.annotateKey({ description: "Names the policy; equal policies have equal hashes." }),
  applied_at: InstantFromString,
  applied_by: Schema.String,
  text: Schema.String.annotateKey({ description: "YAML or JSON, as it was applied." }),
}).annotate(named("PolicyVersion", "A stored version of the policy."))

const PolicyIssue = Schema.Struct({
  path: Schema.String.annotateKey({ description: "Where in the policy; empty for the whole." }),
  line: Schema.Int.annotateKey({ description: "The line of the text, from 1." }),
  message: Schema.String.annotateKey({ description: "The fault, without its subject." }),
}).annotate(named("PolicyIssue", "One thing that is wrong with a policy."))
export type PolicyIssue = typeof PolicyIssue.Type

const { line: _, ...warned } = PolicyIssue.fields
const PolicyWarning = Schema.Struct(warned).annotate(
  named("PolicyWarning", "A valid part of a policy that few people mean."),
)
export type PolicyWarning = typeof PolicyWarning.Type

export const AppliedPolicy = Schema.Struct({
  ...PolicyVersion.fields,
  firings,
  warnings: Schema.optionalKey(Schema.Array(PolicyWarning)).annotateKey({
    description:
      "Changes of who is notified that few people mean, and overrides of rotas that do not count under it; absent without any.",
  }),
  unavailable: Schema.Array(UnavailableReceiver).annotateKey({
    description: "The receivers that this server cannot use. `GET /ops/v1/policy` has those of all servers.",
  }),
}).annotate(named("AppliedPolicy", "The stored version, and what it sends immediately."))
export type AppliedPolicy = typeof AppliedPolicy.Type

const VersionNumber = Schema.String.check(
  Schema.isPattern(/^[1-9][0-9]{0,8}$/u, {
    expected: "the number of a version",
    description: "Only this version.",
  }),
).pipe(Schema.decodeTo(Schema.Int, SchemaTransformation.transform({ decode: Number, encode: String })))

export const PolicyVersionParameters = Schema.Struct({
  version: Schema.optionalKey(VersionNumber),
  without_texts: flag("Whether the texts are left out."),
})

const { text: policyText, ...untexted } = PolicyVersion.fields
const ListedVersion = Schema.Struct({ ...untexted, text: Schema.optionalKey(policyText) }).annotate(
  named("ListedPolicyVersion", "A stored version of the policy; without its text if that is left out."),
)

export const PolicyVersionList = Schema.Struct({
  items: Schema.Array(ListedVersion).annotateKey({ description: "The last 100, the newest first." }),
}).annotate(named("PolicyVersionList", "The stored versions of the policy."))
export type PolicyVersionList = typeof PolicyVersionList.Type

export const PolicyCheck = Schema.Struct({
  issues: Schema.Array(PolicyIssue).annotateKey({ description: "Empty if the policy is valid." }),
  warnings: Schema.optionalKey(Schema.Array(PolicyWarning)).annotateKey({
    description: "Of a valid policy: parts that few people mean.",
  }),
  firings: Schema.optionalKey(firings),
  lines: optional(Schema.Array(CheckedLine), "Of a valid policy with public pages: their lines."),
  unavailable: optional(
    Schema.Array(UnavailableReceiver),
    "Of a valid policy: the receivers that this server could not use; absent where its policy is not stored.",
  ),
}).annotate(named("PolicyCheck", "Every problem of a policy."))
export type PolicyCheck = typeof PolicyCheck.Type

export const PatchedPolicy = Schema.Struct({
  text: Schema.String.annotateKey({ description: "The text as it would be stored." }),
  issues: PolicyCheck.fields.issues,
}).annotate(
  named("PatchedPolicy", "The text of the policy with the changes made, of which nothing is stored."),
)
export type PatchedPolicy = typeof PatchedPolicy.Type

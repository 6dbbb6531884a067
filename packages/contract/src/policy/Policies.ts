import { Schema, SchemaTransformation } from "effect"
import { DurationText } from "../formats/DurationText.ts"
import { closedStruct, named, optional } from "../formats/Fields.ts"
import { AgentId, CheckId } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { flag } from "../v1/Parameters.ts"
import { NotifierName } from "../formats/Status.ts"
import { PolicyDocument, Window } from "./PolicyDocument.ts"
import { MOST_LINE_CHECKS, PageName } from "../publicPages/PublicPages.ts"
import { StoredValues } from "../receivers/ReceiverSecrets.ts"

const Occurrence = Schema.Struct({
  starts_at: InstantFromString,
  ends_at: InstantFromString.annotateKey({ description: "The first moment at which it is over." }),
}).annotate(named("WindowOccurrence", "One time of a maintenance window."))

const PlannedWindow = Schema.Struct({
  ...Window.fields,
  occurrences: Schema.Array(Occurrence).annotateKey({
    description: "The one in force, if there is one, and the next ones: five in all.",
  }),
}).annotate(named("PlannedWindow", "A maintenance window with its next times."))

export const WindowList = Schema.Struct({
  items: Schema.Array(PlannedWindow).annotateKey({ description: "All windows, in the policy's order." }),
}).annotate(named("WindowList", "The maintenance windows of the policy."))
export type WindowList = typeof WindowList.Type

const MonthlyReport = Schema.Struct({
  month: Schema.String.annotateKey({ description: "The one that it is about, such as 2026-11." }),
  state: Schema.Literals(["waiting", "sent", "failed"]).annotateKey({
    description: "failed: not sent within 24 h, or refused for good.",
  }),
  last_error: Schema.NullOr(Schema.String).annotateKey({
    description: "Why the last attempt failed; of a sent one, who did not get it.",
  }),
}).annotate(named("MonthlyReportState", "How the report of a month went."))

const ReceiverInForce = Schema.Struct({
  name: NotifierName,
  notifier: NotifierName.annotateKey({
    description: "Its kind, or the name of a host program's own notifier.",
  }),
  unavailable: Schema.optionalKey(Schema.Literal(true)).annotateKey({
    description: "This server cannot read its secrets, and leaves its notifications to the others.",
  }),
  hint: optional(
    Schema.String,
    "Enough of its address to tell it from others: a host, or three characters and the domain of a mail address.",
  ),
  tested_at: optional(InstantFromString, "When it took a test last; absent if it never did."),
  report: optional(MonthlyReport, "The last monthly report that was due to it; absent if none was."),
}).annotate(named("ReceiverInForce", "A receiver of the policy in force."))

const UnavailableReceiver = Schema.Struct({
  receiver: NotifierName,
  reason: Schema.String.annotateKey({ description: "The secret that it lacks, and why." }),
}).annotate(named("UnavailableReceiver", "A receiver that a server cannot use."))
export type UnavailableReceiver = typeof UnavailableReceiver.Type

const ReplicaState = Schema.Struct({
  id: Schema.String.annotateKey({ description: "Drawn when the process started." }),
  version: Schema.String.annotateKey({ description: "Of Tocsin; `embedded` inside another program." }),
  hash: Schema.String.annotateKey({ description: "Names its policy, like the `hash` above." }),
  receivers: Schema.Array(NotifierName).annotateKey({ description: "The names of its receivers." }),
  unavailable: Schema.Array(UnavailableReceiver).annotateKey({
    description: "Those of them that it cannot use; it leaves their notifications to other servers.",
  }),
  started_at: InstantFromString,
  seen_at: InstantFromString.annotateKey({ description: "Its latest report." }),
}).annotate(named("Replica", "A running server of this installation."))

export const PolicyInForceState = Schema.Struct({
  policy: PolicyDocument,
  hash: Schema.String.annotateKey({ description: "Names the policy; equal policies have equal hashes." }),
  receivers: Schema.Array(ReceiverInForce).annotateKey({
    description: "Every receiver, by name: those of the policy, or else the notifiers of the settings.",
  }),
  replicas: Schema.Array(ReplicaState).annotateKey({
    description: "The servers that reported themselves within the last minute, the oldest first.",
  }),
  replicas_differ: Schema.Boolean.annotateKey({
    description: "Whether these servers follow different policies: reload or restart those that differ.",
  }),
  fixed: Schema.optionalKey(Schema.String).annotateKey({
    description:
      "Why no policy can be applied through this server, and what to do instead; absent where the policy is stored.",
  }),
}).annotate(
  named(
    "PolicyInForce",
    "The policy in force. It names files and variables with secrets, never their contents.",
  ),
)
export type PolicyInForceState = typeof PolicyInForceState.Type

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

export const ReceiverPath = Schema.Struct({
  name: NotifierName.annotateKey({ description: "The name of the receiver in the policy." }),
})

export const ReceiverRequest = closedStruct({
  // A problem of the entry is one of the policy, with its path.
  receiver: Schema.Record(Schema.String, Schema.Unknown).annotate({
    description: "Its whole entry, as a policy has it: a `Receiver`.",
  }),
  values: optional(
    StoredValues,
    "All its secrets, to store under the name that the entry has as `secrets`, or else the receiver's. Without them, the stored ones of that name stay.",
  ),
}).annotate(named("ReceiverRequest", "A receiver to define or to replace."))

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

const CheckedLine = Schema.Struct({
  page: PageName,
  line: Schema.String.annotateKey({ description: "Its id, or the one made of its name." }),
  checks: Schema.Array(Schema.Struct({ agent_id: AgentId, check_id: CheckId })).annotateKey({
    description: `Of all checks that match now, the first ${MOST_LINE_CHECKS}: those that the line has.`,
  }),
}).annotate(named("CheckedLine", "A line of a public page, and the checks whose worst state it has."))
export type CheckedLine = typeof CheckedLine.Type

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

const TRIAL_BOUNDS = { min: "1 second", max: "366 days" } as const

export const PolicyTrialParameters = Schema.Struct({
  since: optional(
    DurationText(TRIAL_BOUNDS),
    "Counts the messages of this long until now; `30d` unless given.",
  ),
})

const TriedReceiver = Schema.Struct({
  receiver: NotifierName,
  in_force: Schema.Int.annotateKey({ description: "Messages under the policy in force." }),
  tried: Schema.Int.annotateKey({ description: "Messages under the policy that is tried." }),
}).annotate(named("TriedReceiver", "The messages of one receiver under both policies."))
export type TriedReceiver = typeof TriedReceiver.Type

const HeldCount = Schema.Struct({
  receiver: NotifierName,
  held_by: Schema.Array(Schema.String).annotateKey({
    description: "As of a firing, but `silence` and `parent` without their names.",
  }),
  outcome: Schema.Literals(["sent", "resolved", "replaced", "still_held"]).annotateKey({
    description:
      "`sent`: once the hold had ended. `resolved`: the incident resolved first. `replaced`: a later firing took its place.",
  }),
  firings: Schema.Int,
}).annotate(named("HeldCount", "Firings of one receiver that were held, and what became of them."))
export type HeldCount = typeof HeldCount.Type

export const PolicyTrial = Schema.Struct({
  since: InstantFromString.annotateKey({ description: "Messages are counted from here on." }),
  until: InstantFromString,
  history_from: Schema.NullOr(InstantFromString).annotateKey({
    description: "The oldest result that was read; null without results.",
  }),
  results: Schema.Int.annotateKey({ description: "The results that were read." }),
  in_force: Schema.String.annotateKey({ description: "The hash of the policy in force." }),
  messages: Schema.Struct({ in_force: Schema.Int, tried: Schema.Int }),
  receivers: Schema.Array(TriedReceiver),
  held: Schema.Array(HeldCount).annotateKey({ description: "The firings that the tried policy held." }),
  unknown: Schema.Array(Schema.String).annotateKey({
    description: "What the history does not know, for people.",
  }),
}).annotate(
  named("PolicyTrial", "The messages that a policy would have sent, beside those of the policy in force."),
)
export type PolicyTrial = typeof PolicyTrial.Type

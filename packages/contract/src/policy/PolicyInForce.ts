import { Schema } from "effect"
import { described, named, optional, timestamp } from "../formats/Fields.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { NotifierName } from "../formats/Status.ts"
import { PolicyDocument, Window } from "./PolicyDocument.ts"
import { MonthlyReport } from "../report/MonthlyReport.ts"

export const UnavailableReceiver = Schema.Struct({
  receiver: NotifierName,
  reason: Schema.String.annotateKey({ description: "The secret that it lacks, and why." }),
}).annotate(named("UnavailableReceiver", "A receiver that a server cannot use."))
export type UnavailableReceiver = typeof UnavailableReceiver.Type

const Occurrence = Schema.Struct({
  starts_at: InstantFromString,
  ends_at: timestamp("The first moment at which it is over."),
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

const ReceiverInForce = Schema.Struct({
  name: NotifierName,
  notifier: described(NotifierName, "Its kind, or the name of a host program's own notifier."),
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

const ReplicaState = Schema.Struct({
  id: Schema.String.annotateKey({ description: "Drawn when the process started." }),
  version: Schema.String.annotateKey({ description: "Of Tocsin; `embedded` inside another program." }),
  hash: Schema.String.annotateKey({ description: "Names its policy, like the `hash` above." }),
  receivers: Schema.Array(NotifierName).annotateKey({ description: "The names of its receivers." }),
  unavailable: Schema.Array(UnavailableReceiver).annotateKey({
    description: "Those of them that it cannot use; it leaves their notifications to other servers.",
  }),
  started_at: InstantFromString,
  seen_at: timestamp("Its latest report."),
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
}).annotate({
  identifier: "PolicyInForce",
  description: "The policy in force. It names files and variables with secrets, never their contents.",
})
export type PolicyInForceState = typeof PolicyInForceState.Type

import { Schema } from "effect"
import { Acknowledgement, IncidentLogEntry } from "../acknowledgements/Acknowledgements.ts"
import { described, named, timestamp } from "../formats/Fields.ts"
import { AgentId, IncidentId } from "../formats/Identifiers.ts"
import { Silence } from "../silences/Silences.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { Incident } from "../v1/Resources.ts"
import { ShownTitle } from "../titles/Titles.ts"
import { NotifierName, Severity } from "../formats/Status.ts"
import { checkLabels } from "../checks/ShownChecks.ts"
import { HeldIncident, HeldOutboxItem } from "./HeldRows.ts"
import { ShownResolution } from "./Resolution.ts"

const TitledIncident = Schema.Struct({
  ...Incident.fields,
  title: ShownTitle,
  resolution: ShownResolution,
}).annotate(named("TitledIncident", "An incident with the title of its worst check, or of its silent agent."))

const Member = Schema.Struct({
  agent_id: AgentId,
  check_id: Schema.String,
  severity: Severity,
  summary: Schema.NullOr(Schema.String),
  joined_at: InstantFromString,
  left_at: Schema.NullOr(InstantFromString).annotate({ description: "Null while it is a member." }),
  labels: checkLabels,
  title: ShownTitle,
}).annotate(named("IncidentMember", "A check that is or was part of an incident."))

const Change = Schema.Struct({
  at: InstantFromString,
  change: Schema.Literals(["joined", "worsened", "improved", "left"]),
  agent_id: AgentId,
  check_id: Schema.String,
  severity: Severity.annotateKey({ description: "The member's; of one that left, the last it had." }),
  incident_severity: Schema.NullOr(Severity).annotate({ description: "Null when the incident resolved." }),
}).annotate(named("IncidentChange", "Something that happened to an incident."))

const Delivery = Schema.Struct({
  ...HeldOutboxItem.fields,
  why: Schema.String.annotate({ description: "Why it was sent, waits or is not sent; for people." }),
}).annotate(named("IncidentDelivery", "A notification, and why it was sent or not."))

const Notified = Schema.Struct({
  receiver: NotifierName,
  cause: HeldOutboxItem.fields.cause,
  severity: Severity.annotateKey({ description: "The incident's severity in that firing." }),
  at: InstantFromString,
}).annotate(named("NotifiedReceiver", "A receiver that got a firing of the incident, and the last one."))

const NextHold = Schema.Struct({
  hold: Schema.String.annotate({
    description: "Its name, such as ack, quiet, outage, parent:INCIDENT_KEY, silence:ID or window:NAME.",
  }),
  until: Schema.NullOr(timestamp("Its end as far as it is known; null if only a change ends it.")),
}).annotate(named("NextHold", "A hold of a firing that comes next."))

const NextFiring = Schema.Struct({
  receiver: NotifierName,
  cause: HeldOutboxItem.fields.cause,
  due_at: Schema.NullOr(timestamp("When it is due; null if it is due now.")),
  holds: described(Schema.Array(NextHold), "Its holds when it is due. Without any it is sent then."),
}).annotate(named("NextFiring", "The firing that a receiver gets next if nothing else happens."))

const IncidentSilence = Schema.Struct({
  ...Silence.fields,
  covers_all: Schema.Boolean.annotateKey({
    description:
      "Whether it matches all members that the incident shows, with the labels that they have now.",
  }),
}).annotate(named("IncidentSilence", "A silence that covered an incident, or a part of it."))

export const IncidentDetail = Schema.Struct({
  incident: TitledIncident,
  members: Schema.Array(Member).annotate({ description: "At most 200: present ones first, worst first." }),
  timeline: Schema.Array(Change).annotate({
    description: "Newest first. Of more than 1,000 changes, the first 100 and the last 900.",
  }),
  timeline_left_out: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: "How many changes the timeline leaves out.",
  }),
  acknowledgement: Schema.NullOr(Acknowledgement),
  log: described(Schema.Array(IncidentLogEntry), "Acknowledgements and notes, newest first, at most 200."),
  held_by: HeldIncident.fields.held_by,
  runbook: Schema.NullOr(Schema.Struct({ url: Schema.String, note: Schema.NullOr(Schema.String) })).annotate({
    description: "What to read about the worst check; null without one, and once the incident resolved.",
  }),
  notified: Schema.Array(Notified).annotate({ description: "The receivers that got a firing, by name." }),
  next: Schema.Array(NextFiring).annotate({
    description: "Whom the incident notifies next, by receiver. Empty if nothing is to come.",
  }),
  silences: Schema.Array(IncidentSilence).annotate({
    description:
      "The silences in force in its last 31 days that matched one of its members, at most 200, newest first.",
  }),
  silences_left_out: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: "How many older silences are left out.",
  }),
  deliveries: Schema.Array(Delivery).annotate({ description: "At most 200, newest first." }),
}).annotate(named("IncidentDetail", "An incident with its members and timeline."))

const TraceEntry = Schema.Struct({
  at: Schema.NullOr(timestamp("When; null where only a change of the incident or the policy decides.")),
  event: Schema.Literals(["event", "action", "evaluation", "claim", "result", "now", "next"]).annotate({
    description:
      "Its kind: a result of a check, an operator's action, an evaluation, a claim, the result of an attempt, the present, or what comes next.",
  }),
  about: Schema.String.annotate({ description: "A receiver, agent/check, or `incident`." }),
  decided: Schema.String.annotate({ description: "The decision; for people." }),
  rule: Schema.String.annotate({ description: "The section of docs/rules.md that decides." }),
  because: Schema.String.annotate({ description: "The reason; for people." }),
}).annotate(named("TraceEntry", "One decision about an incident."))

export const IncidentTrace = Schema.Struct({
  incident_id: IncidentId,
  entries: Schema.Array(TraceEntry).annotate({
    description: "Oldest first. Of more than 1,000, the first 100 and the last 900.",
  }),
  left_out: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description:
      "How many changes and decisions are left out; a notification that is left out counts as one.",
  }),
}).annotate(named("IncidentTrace", "The decisions about an incident, each with its rule and reason."))

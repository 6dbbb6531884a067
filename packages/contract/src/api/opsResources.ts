import { Schema } from "effect"
import { Acknowledgement, IncidentLogEntry } from "../acknowledgements/Acknowledgements.ts"
import { Labels } from "../labels/Labels.ts"
import { named, NonNegativeInteger, timestamp } from "../formats/Fields.ts"
import { AgentId, CheckId, IncidentId, OutboxId } from "../formats/Identifiers.ts"
import { Silence } from "../silences/Silences.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { OperatorName } from "../operators/Operators.ts"
import {
  Agent,
  CheckState,
  Incident,
  NotificationOutboxItem,
  StoredCheckResultEvent,
  SystemSummary,
} from "../v1/Resources.ts"
import { CheckStatePage, pageOf } from "../v1/Responses.ts"
import { ShownTitle } from "../titles/Titles.ts"
import { CheckStatus, FiringCause, NotifierName, Severity, ShownState } from "../formats/Status.ts"

/** The holds of a firing (docs/rules.md#holds). */
const HeldBy = Schema.Array(Schema.String.annotate({ examples: ["ack", "after"] })).annotate({
  description:
    "The holds of its firings now: ack, after, quiet, parent:INCIDENT_KEY, silence:ID or window:NAME. Empty if nothing holds them.",
})

export const HeldIncident = Schema.Struct({
  ...Incident.fields,
  title: ShownTitle,
  acknowledgement: Schema.NullOr(Acknowledgement),
  held_by: HeldBy,
  receivers: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        receiver: NotifierName,
        state: NotificationOutboxItem.fields.state,
        held_by: HeldBy,
      }),
    ).annotate({
      description:
        "With with_receivers: each receiver, with the state of the firing that reached it, or else of its newest one. That of a shadow is discarded. What holds the incident is left out.",
    }),
  ),
}).annotate(named("HeldIncident", "An incident with its acknowledgement and what withholds its firings."))

export const HeldOutboxItem = Schema.Struct({
  ...NotificationOutboxItem.fields,
  receiver: NotifierName.annotateKey({ description: "The receiver's name in the policy." }),
  cause: Schema.NullOr(FiringCause).annotateKey({
    description:
      "Why this firing was enqueued; null for a resolved, and for firings of versions without causes.",
  }),
  rotas: Schema.optionalKey(
    Schema.Array(NotifierName).annotate({ description: "The rotas that named its receiver, if some did." }),
  ),
  held_by: HeldBy,
  held_until: Schema.NullOr(timestamp("The last known end of these holds; null if nothing holds it.")),
  why: Schema.optionalKey(
    Schema.String.annotate({ description: "Why it waits, where no running server can use its receiver." }),
  ),
  incident_key: Incident.fields.incident_key,
  title: ShownTitle,
  summary: Schema.NullOr(Schema.String).annotateKey({
    description: "The summary that its incident has now.",
  }),
}).annotate(named("HeldOutboxItem", "A notification with its receiver, its cause and what withholds it."))

/** An agent as operators see it. */
export const TitledAgent = Schema.Struct({ ...Agent.fields, title: ShownTitle }).annotate(
  named("TitledAgent", "An agent with its title."),
)

export const TitledAgentPage = pageOf(TitledAgent, "TitledAgentPage")

const TitledIncident = Schema.Struct({ ...Incident.fields, title: ShownTitle }).annotate(
  named("TitledIncident", "An incident with the title of its worst check, or of its silent agent."),
)

const few = (description: string) =>
  NonNegativeInteger.annotate({ description: `${description} At most 500.` })

export const Overview = Schema.Struct({
  ...SystemSummary.fields,
  incidents: Schema.Struct({
    critical: NonNegativeInteger,
    unknown: NonNegativeInteger,
    warning: NonNegativeInteger,
  }).annotate({ description: "Open incidents by severity. At most 10,000 each." }),
  states: Schema.Struct({
    ok: NonNegativeInteger,
    warning: NonNegativeInteger,
    critical: NonNegativeInteger,
    unknown: NonNegativeInteger,
    late: NonNegativeInteger,
    withdrawn: NonNegativeInteger,
  }).annotate({
    description:
      "Checks by their state, each once; late ones include those that never reported. Of late and of withdrawn ones, at most 10,000.",
  }),
  integration_agents: NonNegativeInteger.annotate({
    description: "Agents of integrations and watches, which agents_online or agents_offline counts too.",
  }),
  acknowledged_incidents: few("Open incidents that are acknowledged."),
  waiting_keys: few("Agents of which a key waits for acceptance."),
  dead_letters: NonNegativeInteger.annotate({ description: "Notifications that failed for good." }),
}).annotate(named("Overview", "Counts of what there is, and of what waits for people."))

export const OutboxPath = Schema.Struct({
  id: OutboxId.annotateKey({
    description: "The id of an outbox item; GET /api/v1/notifiers/outbox?state=failed lists them.",
  }),
})
export const IncidentPath = Schema.Struct({
  id: IncidentId.annotateKey({ description: "The id of an incident." }),
})
export const NotifierPath = Schema.Struct({
  notifier: NotifierName.annotateKey({
    description: "A receiver of the policy or, without one, a notifier that is configured.",
  }),
})
export const CheckQuery = Schema.Struct({
  agent_id: AgentId.annotateKey({ description: "The agent of the check." }),
  check_id: CheckId.annotateKey({ description: "The check to explain." }),
})

export const OperatorPath = Schema.Struct({
  name: OperatorName.annotateKey({ description: "The name of an operator." }),
})

const expectedAt = InstantFromString.annotate({
  description: "When the check must have reported again; null if nothing is expected of it.",
})

const checkLabels = Labels.annotate(
  named("CheckLabels", "The labels that the check has now; empty if it has none."),
)

const ExpectedCheckState = Schema.Struct({
  agent_id: AgentId,
  check_id: CheckId,
  state: Schema.NullOr(ShownState).annotate({
    description: "late, or else its status; null if it never reported and is not late.",
  }),
  status: Schema.NullOr(CheckStatus).annotate({ description: "Null if it never reported." }),
  last_observed_at: Schema.NullOr(InstantFromString).annotate({ description: "Null if it never reported." }),
  exit_code: Schema.optionalKey(Schema.Int),
  incident_key: CheckState.fields.incident_key,
  summary: CheckState.fields.summary,
  expected_at: Schema.NullOr(expectedAt),
  late_severity: Schema.NullOr(Severity).annotate({
    description: "Its severity while it is late; null if nothing is expected of it.",
  }),
  is_overdue: Schema.Boolean.annotate({ description: "Whether it is late." }),
  labels: checkLabels,
  title: ShownTitle,
  held_by: Schema.Array(Schema.String.annotate({ examples: ["window:backup"] })).annotate({
    description:
      "The silences and windows in force that match it: silence:ID or window:NAME. Empty without one.",
  }),
}).annotate(named("ExpectedCheckState", "The state of a check, and when it must report."))

export const ExpectedCheckStatePage = Schema.Struct({
  ...CheckStatePage.fields,
  items: Schema.Array(ExpectedCheckState),
}).annotate(named("ExpectedCheckStatePage", "One page of a list."))

export const NotifierTest = Schema.Struct({
  outcome: Schema.Literals(["delivered", "deferred", "refused"]).annotate({
    description: "delivered; deferred: a notification would be tried again; refused: it would not.",
  }),
  status: Schema.NullOr(Schema.Int).annotate({ description: "The receiver's HTTP status, if it gave one." }),
  error: Schema.NullOr(Schema.String).annotate({ description: "The failure." }),
}).annotate(named("NotifierTest", "The result of a test message."))

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
  holds: Schema.Array(NextHold).annotate({
    description: "Its holds when it is due. Without any it is sent then.",
  }),
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
  log: Schema.Array(IncidentLogEntry).annotate({
    description: "Acknowledgements and notes, newest first, at most 200.",
  }),
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

export const CheckExplanation = Schema.Struct({
  agent: TitledAgent,
  check: ExpectedCheckState,
  reasons: Schema.Array(Schema.String).annotate({ description: "The reasons, a sentence each." }),
  received_at: Schema.NullOr(InstantFromString).annotate({ description: "Null if it never reported." }),
  age_seconds: Schema.NullOr(Schema.Finite).annotate({
    description: "How long ago the last applied result arrived.",
  }),
  skew_seconds: Schema.NullOr(Schema.Finite).annotate({
    description: "Arrival minus observed_at of that result; negative where the agent's clock is ahead.",
  }),
  last_change: Schema.NullOr(StoredCheckResultEvent),
  incident: Schema.NullOr(Incident),
}).annotate(named("CheckExplanation", "Why a check is in the state it is in."))

import { Schema } from "effect"
import { Labels } from "../labels/Labels.ts"
import { described, named } from "../formats/Fields.ts"
import { AgentId, CheckId } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { CheckState, Incident, StoredCheckResultEvent } from "../v1/Resources.ts"
import { CheckStatePage } from "../v1/Responses.ts"
import { ShownTitle } from "../titles/Titles.ts"
import { CheckStatus, Severity, ShownState } from "../formats/Status.ts"
import { TitledAgent } from "../api/opsResources.ts"

const expectedAt = InstantFromString.annotate({
  description: "When the check must have reported again; null if nothing is expected of it.",
})

export const checkLabels = Labels.annotate(
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

export const CheckExplanation = Schema.Struct({
  agent: TitledAgent,
  check: ExpectedCheckState,
  reasons: Schema.Array(Schema.String).annotate({ description: "The reasons, a sentence each." }),
  received_at: Schema.NullOr(InstantFromString).annotate({ description: "Null if it never reported." }),
  age_seconds: described(Schema.NullOr(Schema.Finite), "How long ago the last applied result arrived."),
  skew_seconds: Schema.NullOr(Schema.Finite).annotate({
    description: "Arrival minus observed_at of that result; negative where the agent's clock is ahead.",
  }),
  last_change: Schema.NullOr(StoredCheckResultEvent),
  incident: Schema.NullOr(Incident),
}).annotate(named("CheckExplanation", "Why a check is in the state it is in."))

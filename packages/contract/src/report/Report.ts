import { Schema } from "effect"
import { AvailabilityParameters, CheckAvailability } from "../availability/Availability.ts"
import { described, named, NonNegativeInteger, optional, timestamp } from "../formats/Fields.ts"
import { ShownResolution } from "../incidents/Resolution.ts"
import { labelKey } from "../labels/Labels.ts"
import { ShownTitle } from "../titles/Titles.ts"
import { Incident } from "../v1/Resources.ts"

/** The span and the checks of a report (docs/rules.md#reports). */
export const ReportParameters = Schema.Struct({
  from: timestamp("Where the span begins, at most 400 days before its end."),
  to: timestamp("Where the span ends, not in the future."),
  group: Schema.optionalKey(labelKey("The key of the label by whose values checks are grouped.")),
  match: AvailabilityParameters.fields.match,
})
export type ReportParameters = typeof ReportParameters.Type

const { agent_id, check_id, percent, seconds } = CheckAvailability.fields
const check = { agent_id, check_id, title: ShownTitle }

const Group = Schema.Struct({
  group: Schema.NullOr(Schema.String).annotateKey({
    description: "The value of the label; null of checks without it, and of all checks without group.",
  }),
  checks: NonNegativeInteger,
  percent: Schema.NullOr(Schema.Finite).annotateKey({
    description: "As of a check, over all seconds of the checks of the group.",
  }),
  warned: optional(
    Schema.Literal(true),
    "Present where checks of the group warned, and none was worse or late: percent does not say then that one was away.",
  ),
})

const OpenInSpan = Schema.Struct({
  ...Incident.fields,
  title: ShownTitle,
  resolution: ShownResolution,
  duration_seconds: described(Schema.Int, "From its opening to its resolution, or until now."),
  acknowledged_by: described(Schema.NullOr(Schema.String), "Who acknowledged it first; null if nobody did."),
  acknowledged_after_seconds: Schema.NullOr(Schema.Int),
})

const LateInSpan = Schema.Struct({
  ...check,
  from: timestamp("When it was found late, or the begin of the span."),
  to: timestamp("When it reported again, or the end of the span."),
})

export const Report = Schema.Struct({
  groups: Schema.Array(Group),
  worst: Schema.Array(Schema.Struct({ ...check, percent, seconds })).annotateKey({
    description: "The ten checks that were ok for the smallest part of the time, the worst first.",
  }),
  incidents: Schema.Array(OpenInSpan).annotateKey({
    description: "Those that were open in the span, the newest first; at most 500.",
  }),
  late: described(Schema.Array(LateInSpan), "When checks were late, the newest first; at most 500."),
  left_out: optional(
    Schema.Struct({ incidents: NonNegativeInteger, late: NonNegativeInteger }),
    "How many more there are; absent if there are none.",
  ),
}).annotate(named("Report", "How checks were during a span."))
export type Report = typeof Report.Type

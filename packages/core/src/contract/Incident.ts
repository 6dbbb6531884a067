import { Schema } from "effect"
import { AgentId, CheckId, IncidentId, IncidentKey } from "./Identifiers.ts"
import { IncidentState, Severity } from "./Status.ts"
import { timestamp } from "./timestamp.ts"

/** Something that is or was wrong: checks that are not ok, gathered under one key (docs/rules.md#incidents). */
export const Incident = Schema.Struct({
  id: IncidentId,
  incident_key: IncidentKey,
  state: IncidentState,
  severity: Severity,
  agent_id: Schema.optionalKey(AgentId).annotateKey({
    description: "The agent of the only member; absent with several members.",
  }),
  check_id: Schema.optionalKey(CheckId).annotateKey({
    description: "The check of the only member; absent with several members.",
  }),
  opened_at: timestamp("When its first member turned not ok."),
  resolved_at: Schema.optionalKey(
    Schema.NullOr(timestamp("When no member was left; null or absent while the incident is open.")),
  ),
  summary: Schema.optionalKey(
    Schema.String.annotate({
      description: "First line of the output of the most severe, most recent member.",
    }),
  ),
}).annotate({
  identifier: "Incident",
  description: "Checks that are or were not ok, gathered under one key.",
})
export type Incident = typeof Incident.Type

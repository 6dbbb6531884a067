import { Schema } from "effect"
import { booleanOr, named, NonNegativeInteger, optional, timestamp } from "../formats/Fields.ts"
import {
  AgentId,
  BlacklistId,
  CheckId,
  IncidentId,
  IncidentKey,
  KeyFingerprint,
  OutboxId,
} from "../formats/Identifiers.ts"
import { Labels } from "../labels/Labels.ts"
import { AgentFeatures, CheckResultEvent } from "./Requests.ts"
import {
  AdmissionState,
  AgentStatus,
  CheckStatus,
  IncidentState,
  NotificationType,
  NotifierName,
  OutboxState,
  Severity,
} from "../formats/Status.ts"
import { Hostname } from "../formats/Text.ts"

export const Agent = Schema.Struct({
  agent_id: AgentId,
  hostname: Hostname,
  status: AgentStatus,
  admission_state: AdmissionState,
  rotation_pending: booleanOr(
    false,
    "Whether a pending key would replace an already accepted key of this agent.",
  ),
  key_fingerprint: optional(
    Schema.NullOr(KeyFingerprint),
    "The fingerprint to compare with the agent's own print of its key; of the pending key, if there is one.",
  ),
  last_seen_at: timestamp("When the service last heard of the agent."),
  features: AgentFeatures,
  labels: Schema.optionalKey(Labels),
}).annotate(named("Agent", "A monitored host or process that pushes to the service."))
export type Agent = typeof Agent.Type

export const AgentBlacklistItem = Schema.Struct({
  id: BlacklistId.annotateKey({ description: "Opaque; what deletes the row." }),
  key_fingerprint: KeyFingerprint.annotateKey({ description: "The value to show to humans." }),
  agent_id: AgentId,
  hostname: Hostname,
  created_at: timestamp("When the key was blocked."),
  last_seen_at: timestamp("When the key was last used, to within a minute."),
}).annotate(named("AgentBlacklistItem", "A blocked agent key."))
export type AgentBlacklistItem = typeof AgentBlacklistItem.Type

export const CheckState = Schema.Struct({
  agent_id: AgentId,
  check_id: CheckId,
  status: CheckStatus,
  last_observed_at: timestamp("When the newest applied result was observed, by the agent's clock."),
  exit_code: optional(Schema.Int, "The exit code of the newest applied result."),
  incident_key: Schema.optionalKey(IncidentKey),
  summary: Schema.optionalKey(
    Schema.String.check(
      Schema.isMaxCodePoints(8192, { description: "The output of the newest applied result." }),
    ),
  ),
}).annotate(named("CheckState", "The current state of one check."))
export type CheckState = typeof CheckState.Type

export const StoredCheckResultEvent = Schema.Struct({
  ...CheckResultEvent.fields,
  agent_id: AgentId,
  received_at: timestamp("When the service received it, by the server's clock."),
}).annotate(named("StoredCheckResultEvent", "A result that changed the status of its check."))
export type StoredCheckResultEvent = typeof StoredCheckResultEvent.Type

/** Checks that are or were not ok, gathered under one key (docs/rules.md#incidents). */
export const Incident = Schema.Struct({
  id: IncidentId,
  incident_key: IncidentKey,
  state: IncidentState,
  severity: Severity,
  agent_id: optional(AgentId, "The agent of the only member; absent with several members."),
  check_id: optional(CheckId, "The check of the only member; absent with several members."),
  opened_at: timestamp("When its first member turned not ok."),
  resolved_at: Schema.optionalKey(
    Schema.NullOr(timestamp("When no member was left; null or absent while the incident is open.")),
  ),
  summary: optional(Schema.String, "First line of the output of the most severe, most recent member."),
}).annotate(named("Incident", "Checks that are or were not ok, gathered under one key."))
export type Incident = typeof Incident.Type

/** One notification to one notifier (docs/rules.md#delivery). */
export const NotificationOutboxItem = Schema.Struct({
  id: OutboxId.annotateKey({ description: "Constant over all attempts, so that receivers can deduplicate." }),
  notifier: NotifierName,
  state: OutboxState,
  incident_id: IncidentId,
  event_type: NotificationType,
  attempts: NonNegativeInteger.annotate({ description: "How often delivery was tried." }),
  next_attempt_at: Schema.optionalKey(
    Schema.NullOr(timestamp("When delivery is tried next; null or absent when it is not.")),
  ),
  last_error: optional(
    Schema.NullOr(Schema.String),
    "Why the last attempt failed, or shadow for a shadow receiver; null or absent when none did.",
  ),
  updated_at: Schema.optionalKey(timestamp("When the item last changed.")),
}).annotate(named("NotificationOutboxItem", "One notification on its way to one notifier."))
export type NotificationOutboxItem = typeof NotificationOutboxItem.Type

const count = (description: string) => NonNegativeInteger.annotate({ description })

/** Counts at one moment; their size does not depend on the number of rows. */
export const SystemSummary = Schema.Struct({
  agents_online: count("Accepted agents that are alive."),
  agents_offline: count("Accepted agents that are stale or dead."),
  checks_ok: count("Checks that are ok."),
  checks_warning: count("Checks that are in warning."),
  checks_critical: count("Checks that are critical."),
  checks_unknown: count("Checks whose status is unknown."),
  open_incidents: count("Incidents that are open."),
  generated_at: timestamp("The moment at which the counts hold."),
}).annotate(named("SystemSummaryResponse", "Counts of agents, checks and open incidents."))
export type SystemSummary = typeof SystemSummary.Type

import { Schema } from "effect"

/** What a check reported last (docs/rules.md#values). */
export const CheckStatus = Schema.Literals(["ok", "warning", "critical", "unknown"]).annotate({
  identifier: "CheckStatus",
  description: "What a check reported.",
})
export type CheckStatus = typeof CheckStatus.Type
/** Whether a value is a {@link CheckStatus}, without the schema's machinery. */
export const isCheckStatus = (value: unknown): value is CheckStatus =>
  value === "ok" || value === "warning" || value === "critical" || value === "unknown"

/** How bad an incident is; the order is critical > unknown > warning (docs/rules.md#incidents). */
export const Severity = Schema.Literals(["warning", "critical", "unknown"]).annotate({
  identifier: "Severity",
  description: "How bad an incident is; critical is above unknown, unknown above warning.",
})
export type Severity = typeof Severity.Type

/** Whether an agent was heard of lately, by server time (docs/rules.md#heartbeat-incidents). */
export const AgentStatus = Schema.Literals(["alive", "stale", "dead"]).annotate({
  identifier: "AgentStatus",
  description: "Whether the agent was heard of lately, by the server's clock.",
})
export type AgentStatus = typeof AgentStatus.Type

/** Whether an agent holds a key that an operator accepted (docs/state-tables.md). */
export const AdmissionState = Schema.Literals(["pending", "accepted"]).annotate({
  identifier: "AdmissionState",
  description: "Whether an operator has accepted a key of the agent. Blocked keys are held in the blacklist.",
})
export type AdmissionState = typeof AdmissionState.Type

/** Whether an incident still has members that are not ok (docs/rules.md#incidents). */
export const IncidentState = Schema.Literals(["open", "resolved"]).annotate({
  identifier: "IncidentState",
  description: "Whether any check of the incident is still not ok.",
})
export type IncidentState = typeof IncidentState.Type

/** Where an outbox item is on its way to its notifier (docs/rules.md#delivery). */
export const OutboxState = Schema.Literals([
  "pending",
  "sending",
  "sent",
  "retry",
  "failed",
  "discarded",
]).annotate({
  identifier: "OutboxState",
  description: "Where the notification is on its way to its notifier.",
})
export type OutboxState = typeof OutboxState.Type

/** The kinds of notifier that exist (docs/rules.md#outbox). */
export const NotifierKind = Schema.Literals(["debug", "messenger", "webhook", "alert_router"]).annotate({
  identifier: "NotifierKind",
  description: "The kind of notifier that delivers a notification.",
})
export type NotifierKind = typeof NotifierKind.Type

/** The name of a notifier: its kind or, where the service is embedded, a name of the host's own (contract: a string). */
export const NotifierName = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9_]{0,63}$/u, {
    identifier: "NotifierName",
    description: "debug, messenger, webhook or alert_router; embedded, also a name of the host's own.",
    expected: "1 to 64 lower-case letters, digits or _",
  }),
)
export type NotifierName = typeof NotifierName.Type

/** What a notification says of its incident (docs/rules.md#outbox). */
export const NotificationType = Schema.Literals(["firing", "resolved"]).annotate({
  identifier: "NotificationType",
  description: "Whether the notification says that the incident fires, or that it is resolved.",
})
export type NotificationType = typeof NotificationType.Type

import { Schema } from "effect"
import { named } from "./Fields.ts"

/** The status that a check reported (docs/rules.md#values). */
export const CheckStatus = Schema.Literals(["ok", "warning", "critical", "unknown"]).annotate(
  named("CheckStatus", "The status that a check reported."),
)
export type CheckStatus = typeof CheckStatus.Type
/** Whether a value is a {@link CheckStatus}; faster than the schema. */
export const isCheckStatus = (value: unknown): value is CheckStatus =>
  value === "ok" || value === "warning" || value === "critical" || value === "unknown"

export const ListedStatus = Schema.Literals([...CheckStatus.literals, "not_ok"])
export type ListedStatus = typeof ListedStatus.Type

/**
 * The state that people see of a check: late, withdrawn, or else the status that it last reported
 * (docs/rules.md#late-checks).
 */
export const ShownState = Schema.Literals([...CheckStatus.literals, "late", "withdrawn"]).annotate(
  named("ShownState", "The state of a check: late, withdrawn, or else the status that it last reported."),
)
export type ShownState = typeof ShownState.Type

/** The severity of an incident: critical > unknown > warning (docs/rules.md#incidents). */
export const Severity = Schema.Literals(["warning", "critical", "unknown"]).annotate(
  named("Severity", "How bad an incident is; critical is above unknown, unknown above warning."),
)
export type Severity = typeof Severity.Type

/** Severities by rank, stored as numbers to order rows by them (docs/rules.md#incidents). */
export const SEVERITY_RANK: Readonly<Record<Severity, number>> = { warning: 1, unknown: 2, critical: 3 }

/** Whether an agent has been seen lately, by server time (docs/rules.md#agent-status). */
export const AgentStatus = Schema.Literals(["alive", "stale", "dead"]).annotate(
  named("AgentStatus", "Whether the agent was heard of lately, by the server's clock."),
)
export type AgentStatus = typeof AgentStatus.Type

/** Whether an operator has accepted a key of the agent (docs/rules.md#agent-keys). */
export const AdmissionState = Schema.Literals(["pending", "accepted"]).annotate({
  identifier: "AdmissionState",
  description: "Whether an operator has accepted a key of the agent. Blocked keys are held in the blacklist.",
})
export type AdmissionState = typeof AdmissionState.Type

/** Whether an incident still has members that are not ok (docs/rules.md#incidents). */
export const IncidentState = Schema.Literals(["open", "resolved"]).annotate(
  named("IncidentState", "Whether any check of the incident is still not ok."),
)
export type IncidentState = typeof IncidentState.Type

/** The state of a notification (docs/rules.md#delivery). */
export const OutboxState = Schema.Literals([
  "pending",
  "sending",
  "sent",
  "retry",
  "failed",
  "discarded",
]).annotate(named("OutboxState", "Where the notification is on its way to its notifier."))
export type OutboxState = typeof OutboxState.Type

/** The kinds of built-in notifiers (docs/rules.md#outbox). */
export const NotifierKind = Schema.Literals(["debug", "messenger", "webhook", "alert_router"]).annotate(
  named("NotifierKind", "The kind of notifier that delivers a notification."),
)
export type NotifierKind = typeof NotifierKind.Type

/** The name of a notifier: its kind or, in the library, a name chosen by the host program. */
export const NotifierName = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9_]{0,63}$/u, {
    identifier: "NotifierName",
    description: "debug, messenger, webhook or alert_router; embedded, also a name of the host's own.",
    expected: "1 to 64 lower-case letters, digits or _",
  }),
)
export type NotifierName = typeof NotifierName.Type

/** The type of a notification (docs/rules.md#outbox). */
export const NotificationType = Schema.Literals(["firing", "resolved"]).annotate(
  named("NotificationType", "Whether the notification says that the incident fires, or that it is resolved."),
)
export type NotificationType = typeof NotificationType.Type

/** Why a firing was enqueued (docs/rules.md#when-a-row-is-written). */
export const FiringCause = Schema.Literals([
  "opened",
  "worsened",
  "reminder",
  "escalation",
  "ack_ran_out",
  "handover",
]).annotate({
  identifier: "FiringCause",
  description: "Why this firing was sent: opened for the first that its receiver gets of an incident.",
})
export type FiringCause = typeof FiringCause.Type

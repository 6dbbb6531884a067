import * as Instant from "@tocsin/contract/Instant"
import type { Severity } from "@tocsin/contract/Status"
import { timestamp } from "@tocsin/contract/Fields"
import { Duration, Schema } from "effect"
import { checkIdOf, type NotifiedIncident, whereText } from "../text/incidentText.ts"
import { plainLine } from "@tocsin/contract/plainLine"

/** An alert of Alertmanager's v2 API (postableAlert), in Alertmanager's format. */
export const Alert = Schema.Struct({
  labels: Schema.Record(Schema.String, Schema.String),
  annotations: Schema.Record(Schema.String, Schema.String),
  startsAt: timestamp("When it began to fire."),
  endsAt: timestamp("When it counts as resolved unless it is sent again before."),
})
export type Alert = typeof Alert.Type

/** An incident at one severity. */
export interface AlertFacts {
  readonly severity: Severity
  readonly summary: string | undefined
  readonly incident: NotifiedIncident
}

/**
 * More than three of the minutes after which a firing alert is resent (docs/rules.md#alertmanager).
 */
const FIRING_SPAN = Duration.minutes(4)

/** Until when an alert sent at `now` counts as firing (docs/rules.md#alertmanager). */
export const firingUntil = (now: Instant.Instant): Instant.Instant => Instant.plus(now, FIRING_SPAN)

/**
 * The end of an alert that is over. An end in the future comes from a clock set back since: to
 * Alertmanager, the alert would fire until then.
 */
export const endedBy = (endedAt: Instant.Instant, now: Instant.Instant): Instant.Instant =>
  Instant.min(endedAt, now)

/**
 * The identity of an alert (docs/rules.md#alertmanager). The incident's opener and key never
 * change, so only another severity makes another alert.
 */
const alertLabels = ({ severity, incident }: AlertFacts): Alert["labels"] => {
  const check = checkIdOf(incident.opener_check_id)
  return {
    alertname: check ?? "AgentDead",
    severity,
    agent_id: incident.opener_agent_id,
    ...(check !== undefined && { check_id: check }),
    incident_key: incident.incident_key,
    source: "tocsin",
  }
}

const alertAnnotations = ({ severity, summary, incident }: AlertFacts): Alert["annotations"] => {
  const line = plainLine(summary ?? "")
  return {
    summary: line === "" ? `${whereText(incident)} is ${severity}` : line,
    where: whereText(incident),
    members: incident.members.toString(),
    incident_id: incident.id,
  }
}

/** The alert of an incident; `endsAt` is {@link firingUntil}, or {@link endedBy}. */
export const alertOf = (facts: AlertFacts, endsAt: Instant.Instant): Alert => ({
  labels: alertLabels(facts),
  annotations: alertAnnotations(facts),
  // After a clock was set back, the start could follow the end, which Alertmanager refuses. A later
  // end would keep the alert firing until then.
  startsAt: Instant.min(facts.incident.opened_at, endsAt),
  endsAt,
})

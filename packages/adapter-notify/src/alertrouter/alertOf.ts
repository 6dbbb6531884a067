import * as Instant from "@tocsin/core/contract/Instant"
import type { Severity } from "@tocsin/core/contract/Status"
import { Duration } from "effect"
import { checkIdOf } from "../text/checkIdOf.ts"
import { plainLine } from "../text/plainLine.ts"
import { type NotifiedIncident, whereText } from "../text/incidentText.ts"
import type { Alert } from "./Alert.ts"

/** What an alert tells: an incident at one severity, told by a notification or again. */
export interface AlertFacts {
  readonly severity: Severity
  readonly summary: string | undefined
  readonly incident: NotifiedIncident
}

/** Longer than three of the minutes after which a firing alert is sent again (docs/rules.md#alertmanager). */
const FIRING_SPAN = Duration.minutes(4)

/** Until when an alert that is told at `now` counts as firing (docs/rules.md#alertmanager). */
export const firingUntil = (now: Instant.Instant): Instant.Instant => Instant.plus(now, FIRING_SPAN)

/**
 * What Alertmanager knows the alert by (docs/rules.md#alertmanager): the incident's opener and key are fixed for its life, so only
 * another severity makes another alert. The opener's check names it, so that alerts group as those of Prometheus do.
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
  const said = plainLine(summary ?? "")
  return {
    summary: said === "" ? `${whereText(incident)} is ${severity}` : said,
    where: whereText(incident),
    members: incident.members.toString(),
    incident_id: incident.id,
  }
}

/** The alert of an incident that counts as resolved from `endsAt` on: `firingUntil(now)`, or when it ended. */
export const alertOf = (facts: AlertFacts, endsAt: Instant.Instant): Alert => ({
  labels: alertLabels(facts),
  annotations: alertAnnotations(facts),
  startsAt: facts.incident.opened_at,
  // Alertmanager refuses an alert that ends before it starts, which a clock that was set back would make of it.
  endsAt: Instant.max(endsAt, facts.incident.opened_at),
})

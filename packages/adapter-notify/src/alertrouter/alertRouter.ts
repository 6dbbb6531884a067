import { timestamp } from "@tocsin/contract/formats/Fields"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Severity } from "@tocsin/contract/formats/Status"
import { cutHeadline } from "@tocsin/contract/formats/cutHeadline"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import type { ClaimedAlert, DeliveryAttempt, Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, type Redacted, Schema, type Scope } from "effect"
import { type BadNotifierSetting, makeHttpPost, type PostingOptions } from "../http/HttpPost.ts"
import {
  checkIdOf,
  type NotifiedIncident,
  testText,
  whereText,
} from "@tocsin/core/heart/notifications/incidentText"

/** An alert of Alertmanager's v2 API (postableAlert), in Alertmanager's format. */
export const Alert = Schema.Struct({
  labels: Schema.Record(Schema.String, Schema.String),
  annotations: Schema.Record(Schema.String, Schema.String),
  startsAt: timestamp("When it began to fire."),
  endsAt: timestamp("When it counts as resolved unless it is sent again before."),
})
export type Alert = typeof Alert.Type

interface AlertFacts {
  readonly severity: Severity
  readonly summary: string | undefined
  readonly incident: NotifiedIncident
  readonly runbook?: DeliveryAttempt["runbook"]
  readonly title?: DeliveryAttempt["title"]
}

/** More than three of the minutes after which a firing alert is resent (docs/rules.md#alertmanager). */
const FIRING_SPAN = Duration.minutes(4)

/** Until when an alert sent at `now` counts as firing (docs/rules.md#alertmanager). */
export const firingUntil = (now: Instant.Instant): Instant.Instant => Instant.plus(now, FIRING_SPAN)

/**
 * The end of an alert that is over. An end in the future comes from a clock set back since: to
 * Alertmanager, the alert would fire until then.
 */
const endedBy = (endedAt: Instant.Instant, now: Instant.Instant): Instant.Instant => Instant.min(endedAt, now)

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

const alertAnnotations = ({
  severity,
  summary,
  incident,
  runbook,
  title,
}: AlertFacts): Alert["annotations"] => {
  const line = cutHeadline(plainLine(summary ?? ""), severity)
  return {
    summary: line === "" ? `${whereText(incident)} is ${severity}` : line,
    where: whereText(incident),
    members: incident.members.toString(),
    incident_id: incident.id,
    ...(title !== undefined && { title }),
    ...(runbook !== undefined && { runbook_url: runbook.url }),
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

const TEST_SPAN = Duration.minutes(1)

const encode = Schema.encodeSync(Schema.fromJsonString(Schema.Array(Alert)))

const testAlert = (now: Instant.Instant): Alert => ({
  labels: { alertname: "TocsinTest", severity: "warning", source: "tocsin" },
  annotations: { summary: testText() },
  startsAt: now,
  endsAt: Instant.plus(now, TEST_SPAN),
})

const alertOfNotification = (notification: DeliveryAttempt, now: Instant.Instant): Alert => {
  const ended = endedBy(notification.incident.resolved_at ?? now, now)
  return alertOf(notification, notification.event_type === "firing" ? firingUntil(now) : ended)
}

/** Ordered by age: Alertmanager keeps the last alert of a label set, so the newest incident counts. */
const alertsOfClaims = (claimed: ReadonlyArray<ClaimedAlert>, now: Instant.Instant): ReadonlyArray<Alert> =>
  claimed
    .toSorted((a, b) => (a.incident.opened_at < b.incident.opened_at ? -1 : 1))
    .map(({ alert: { severity, ended_at }, incident, runbook, title }) => {
      const endsAt = ended_at === undefined ? firingUntil(now) : endedBy(ended_at, now)
      return alertOf({ severity, summary: incident.summary, incident, runbook, title }, endsAt)
    })

/** Posts to Alertmanager's `/api/v2/alerts` (docs/rules.md#alertmanager). */
export const alertRouter = Effect.fnUntraced(function* (
  options: PostingOptions & {
    /** Base address of the Alertmanager. */
    readonly url: Redacted.Redacted
  },
): Effect.fn.Return<Notifier, BadNotifierSetting, Scope.Scope> {
  const httpPost = yield* makeHttpPost({
    ...options,
    address: options.url,
    path: "/api/v2/alerts",
  })
  const post = (alertsAt: (now: Instant.Instant) => ReadonlyArray<Alert>) =>
    Effect.flatMap(Instant.now, (now) => httpPost(encode(alertsAt(now))))
  const send = (...parameters: Parameters<typeof post>) =>
    Effect.map(post(...parameters), ({ result }) => result)
  return {
    kind: "alert_router",
    send: (notification) => send((now) => [alertOfNotification(notification, now)]),
    resend: (claimed) => send((now) => alertsOfClaims(claimed, now)),
    test: post((now) => [testAlert(now)]),
  }
})

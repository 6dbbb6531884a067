import * as Instant from "@tocsin/contract/Instant"
import type { ClaimedAlert, DeliveryAttempt } from "@tocsin/core/ports/DeliveryAttempt"
import type { Notifier } from "@tocsin/core/ports/Notifiers"
import { Duration, Effect, type Redacted, Schema, type Scope } from "effect"
import type { BadNotifierSetting } from "../BadNotifierSetting.ts"
import { makeHttpPost, type PostingOptions } from "../http/HttpPost.ts"
import { testText } from "../text/incidentText.ts"
import { Alert, alertOf, endedBy, firingUntil } from "./Alert.ts"

export interface AlertRouterOptions extends PostingOptions {
  /** Base address of the Alertmanager. */
  readonly url: Redacted.Redacted
}

const TEST_SPAN = Duration.minutes(1)

const encode = Schema.encodeSync(Schema.fromJsonString(Schema.Array(Alert)))

const testAlert = (now: Instant.Instant): Alert => ({
  labels: { alertname: "TocsinTest", severity: "warning", source: "tocsin" },
  annotations: { summary: testText },
  startsAt: now,
  endsAt: Instant.plus(now, TEST_SPAN),
})

const alertOfNotification = (notification: DeliveryAttempt, now: Instant.Instant): Alert => {
  const ended = endedBy(notification.incident.resolved_at ?? now, now)
  return alertOf(notification, notification.event_type === "firing" ? firingUntil(now) : ended)
}

/**
 * Ordered by age: Alertmanager keeps the last alert of a label set, so the newest incident counts.
 */
const alertsOfClaims = (claimed: ReadonlyArray<ClaimedAlert>, now: Instant.Instant): ReadonlyArray<Alert> =>
  claimed
    .toSorted((a, b) => (a.incident.opened_at < b.incident.opened_at ? -1 : 1))
    .map(({ alert: { severity, ended_at }, incident }) => {
      const endsAt = ended_at === undefined ? firingUntil(now) : endedBy(ended_at, now)
      return alertOf({ severity, summary: incident.summary, incident }, endsAt)
    })

/** Posts to Alertmanager's `/api/v2/alerts` (docs/rules.md#alertmanager). */
export const alertRouter = Effect.fnUntraced(function* (
  options: AlertRouterOptions,
): Effect.fn.Return<Notifier, BadNotifierSetting, Scope.Scope> {
  const httpPost = yield* makeHttpPost({
    ...options,
    notifier: "alert_router",
    setting: "url",
    address: options.url,
    path: "/api/v2/alerts",
  })
  const post = (alertsAt: (now: Instant.Instant) => ReadonlyArray<Alert>) =>
    Effect.flatMap(Instant.now, (now) => httpPost(encode(alertsAt(now))))
  const send = (alertsAt: (now: Instant.Instant) => ReadonlyArray<Alert>) =>
    Effect.map(post(alertsAt), ({ result }) => result)
  return {
    kind: "alert_router",
    send: (notification) => send((now) => [alertOfNotification(notification, now)]),
    resend: (claimed) => send((now) => alertsOfClaims(claimed, now)),
    test: post((now) => [testAlert(now)]),
  }
})

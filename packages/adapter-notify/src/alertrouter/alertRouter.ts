import * as Instant from "@tocsin/core/contract/Instant"
import type { ClaimedAlert, DeliveryAttempt } from "@tocsin/core/notifications/DeliveryAttempt"
import type { Notifier } from "@tocsin/core/ports/Notifiers"
import { Duration, Effect, type Redacted, Schema, type Scope } from "effect"
import type { BadNotifierSetting } from "../BadNotifierSetting.ts"
import { makeHttpPost, type PostingOptions } from "../http/HttpPost.ts"
import { testText } from "../text/testText.ts"
import { Alert } from "./Alert.ts"
import { alertOf, firingUntil } from "./alertOf.ts"

/** What an alert router needs to know. */
export interface AlertRouterOptions extends PostingOptions {
  /** Base address of an Alertmanager. */
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
  const ended = notification.incident.resolved_at ?? now
  return alertOf(notification, notification.event_type === "firing" ? firingUntil(now) : ended)
}

/** The last of one label set is what Alertmanager keeps: of several incidents that share one, that is the newest. */
const alertsOfClaims = (claimed: ReadonlyArray<ClaimedAlert>, now: Instant.Instant): ReadonlyArray<Alert> =>
  claimed
    .toSorted((a, b) => (a.incident.opened_at < b.incident.opened_at ? -1 : 1))
    .map(({ alert: { severity, ended_at }, incident }) =>
      alertOf({ severity, summary: incident.summary, incident }, ended_at ?? firingUntil(now)),
    )

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
  return {
    kind: "alert_router",
    send: (notification) =>
      Effect.map(
        post((now) => [alertOfNotification(notification, now)]),
        ({ result }) => result,
      ),
    resend: (claimed) =>
      Effect.map(
        post((now) => alertsOfClaims(claimed, now)),
        ({ result }) => result,
      ),
    test: post((now) => [testAlert(now)]),
  }
})

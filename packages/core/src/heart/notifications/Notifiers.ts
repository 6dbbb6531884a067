import { Context, type Duration, type Effect } from "effect"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type {
  CheckStatus,
  FiringCause,
  NotificationType,
  NotifierName,
  Severity,
} from "@tocsin/contract/formats/Status"
import type { Acknowledgement } from "../model/Acknowledgement.ts"
import type { IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { Language } from "@tocsin/contract/languages/Language"
import type { CheckName } from "../../kernel/model/CheckRef.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { memberCount } from "../model/MemberRecord.ts"
import type { FoundRunbook } from "@tocsin/contract/policy/PolicyDocument"
import type { AlertRecord, SettledRecipient } from "../model/OutboxRecord.ts"
import type { Reason } from "../model/Reason.ts"
import type { Report } from "@tocsin/contract/report/Report"

/** Addresses for the reader of a message (docs/rules.md#links). */
export interface MessageLinks {
  readonly incident: string
  /** A page that acknowledges the incident for so long. */
  readonly acknowledge: { readonly url: string; readonly for: Duration.Duration } | undefined
}

/** The incident as notifications and alerts show it, with how many checks are in it. */
export const incidentFacts = (incident: IncidentRecord) => ({
  id: incident.id,
  incident_key: incident.incident_key,
  agent_id: incident.agent_id,
  check_id: incident.check_id,
  opener_agent_id: incident.opener_agent_id,
  opener_check_id: incident.opener_check_id,
  opened_at: incident.opened_at,
  resolved_at: incident.resolved_at,
  resolution: incident.resolution,
  summary: incident.summary,
  members: memberCount(incident),
})

/** The worst loud check of an incident as a message shows it (docs/rules.md#details). */
export interface MessageDetails {
  readonly check: CheckName
  readonly severity: Severity
  /** The status of its last result, where that is another one: the check is late. */
  readonly last_status: CheckStatus | undefined
  readonly labels: Labels
  /** The output of its last result in plain lines; empty if it has none. */
  readonly output: string
  /** Whether that is the output of a job: of a long one, the end is shown. */
  readonly isJob: boolean
  readonly source: string | undefined
  /** Since when it has its severity. */
  readonly since: Instant
  /** How long the last result took, where its sender stated it. */
  readonly duration_seconds: number | undefined
}

/** One attempt to deliver a notification, with everything the receiver needs to know. */
export interface DeliveryAttempt {
  /** ID of the outbox item, the same for every attempt: receivers deduplicate by it. */
  readonly id: OutboxId
  readonly receiver: NotifierName
  /** The receiver's kind; a notifier of the host program has its own name. */
  readonly notifier: NotifierName
  readonly event_type: NotificationType
  /** Absent for a resolved, and for firings of versions without causes. */
  readonly cause: FiringCause | undefined
  /** Why it comes; what a message makes of it, `whyText` says. */
  readonly reason?: Reason | undefined
  /** The language of its reader; English unless given. */
  readonly lang?: Language | undefined
  /** The time zone of its reader; UTC unless given. */
  readonly tz?: string | undefined
  readonly severity: Severity
  /** The incident's summary when the notification was enqueued: one line of at most 512 characters. */
  readonly summary: string | undefined
  readonly created_at: Instant
  /** From when its age counts; the same for every attempt, except after a replay. */
  readonly age_starts_at: Instant
  /** From when on this attempt could have been made. */
  readonly due_at: Instant
  /** The one in force now; none for a resolved. */
  readonly acknowledgement: Acknowledgement | undefined
  /** The runbook of the worst check; absent for a resolved. */
  readonly runbook?: FoundRunbook | undefined
  /** Absent without a public address. */
  readonly links?: MessageLinks | undefined
  /** Of a firing of an open incident, for a notifier that takes them; read for each attempt. */
  readonly details?: MessageDetails | undefined
  /** The recipients that earlier attempts settled; absent before one of several has the mail. */
  readonly recipients?: ReadonlyArray<SettledRecipient> | undefined
  /** Number of this attempt, from 1. */
  readonly attempt: number
  /** The incident now; `agent_id` and `check_id` name its only member. */
  readonly incident: ReturnType<typeof incidentFacts>
  /** The title of the check that opened it, or of its silent agent, as it is now. */
  readonly title?: string | undefined
}

/** One attempt to send the report of a month (docs/rules.md#monthly-reports). */
export interface MonthlyReport {
  /** The same for every attempt. */
  readonly id: string
  /** Such as `2026-11`. */
  readonly month: string
  /** The time zone of its reader, by whose clock the month begins and ends. */
  readonly tz: string
  readonly report: Report
  /** The same report in the console; absent without a public address. */
  readonly link: string | undefined
  /** The recipients that earlier attempts settled. */
  readonly recipients: ReadonlyArray<SettledRecipient> | undefined
}

/** An alert to send again, held by this process until its lease ends. */
export interface ClaimedAlert {
  readonly alert: AlertRecord
  readonly incident: DeliveryAttempt["incident"]
  readonly runbook?: FoundRunbook | undefined
  /** That of what opened its incident, as it is now. */
  readonly title?: string | undefined
  /** It is sent as ended, and not again. */
  readonly isLast?: true
}

/**
 * The result of one attempt (docs/rules.md#delivery). Operators see `error` as the item's
 * `last_error`: one sentence without an address, a secret or the receiver's text beyond its status.
 */
export type DeliveryResult =
  /** `error` if the receiver has it, but not all of its recipients. */
  | { readonly outcome: "delivered"; readonly error?: string }
  /** Worth another attempt: network error, time-out, 408, 425, 429, 5xx. */
  | {
      readonly outcome: "deferred"
      readonly error: string
      readonly retryAfterSeconds?: number | undefined
      /** Of a mail that some recipients have: those that the next attempt leaves out. */
      readonly recipients?: ReadonlyArray<SettledRecipient>
      /** Of a phone: it did not ring, because its service answered that it cannot call now. */
      readonly isAnswered?: true
    }
  /** Not worth another attempt: any other status, a forbidden target. */
  | { readonly outcome: "refused"; readonly error: string }

/** The same, or `shadow`: the attempt ends as if delivered, and nothing was sent. */
export type SendResult = DeliveryResult | { readonly outcome: "shadow" }

/** The receiver's answer to a test message. */
export interface TestReceipt {
  readonly result: DeliveryResult
  readonly status: number | undefined
}

/** The receipt of a test that this process cannot send, and why. */
export const refusedHere = (reason: string): TestReceipt => ({
  result: { outcome: "refused", error: `this server cannot use it: ${reason}` },
  status: undefined,
})

export interface Notifier {
  /** The name in outbox items: its kind, or a custom name. */
  readonly kind: NotifierName
  /**
   * Makes one attempt. Never fails: errors are results. Ends within its own time-out (15 s, less
   * with shorter leases) unless it `outlastsLease`; interruption abandons the attempt. The caller may
   * repeat it with the same ID.
   */
  readonly send: (notification: DeliveryAttempt) => Effect.Effect<SendResult>
  /**
   * Makes one attempt at each of several notifications, which end alike; absent where an attempt may wait. Ends at once, and cannot be
   * interrupted; otherwise as `send`.
   */
  readonly sendAll?: (notifications: ReadonlyArray<DeliveryAttempt>) => Effect.Effect<SendResult>
  /**
   * Makes one attempt at several notifications of one type as one message, for receivers that
   * people read; absent for all others (docs/rules.md#digests). Otherwise as `send`.
   */
  readonly sendDigest?: (notifications: ReadonlyArray<DeliveryAttempt>) => Effect.Effect<SendResult>
  /**
   * Sends alerts again, for a receiver that forgets alerts unless they repeat; absent for all others
   * (docs/rules.md#alertmanager). Alerts with `ended_at` are sent as ended. Never fails.
   */
  readonly resend?: (alerts: ReadonlyArray<ClaimedAlert>) => Effect.Effect<DeliveryResult>
  /**
   * Ends the alarm of an incident that the receiver repeats until one acknowledges; absent for all others. Never fails.
   * The caller may repeat it.
   */
  readonly endAlarm?: (incident: IncidentId) => Effect.Effect<DeliveryResult>
  /** Makes one attempt to send the report of a month; absent where the receiver takes none. Otherwise as `send`. */
  readonly sendReport?: (report: MonthlyReport) => Effect.Effect<SendResult>
  /**
   * The receiver keeps an alert until it is sent as ended: `resend` gets only alerts whose incident resolved
   * without a notification, once and one at a time (docs/rules.md#notifiers).
   */
  readonly remembers?: true
  /** The most attempts that it makes at a time; no other begins, whatever the policy says. */
  readonly concurrency?: number
  /** To how many addresses each of its mails goes, and the domain of their Message-IDs; absent where it sends none. */
  readonly mails?: { readonly recipients: number; readonly domain: string }
  /** An attempt may take longer than a lease: its claim is renewed while it runs. */
  readonly outlastsLease?: true
  /** Whether its messages show details. */
  readonly takesDetails?: true
  /** It reaches the browsers of an operator, whose addresses the storage keeps: whoever has that makes it send. */
  readonly browsersOf?: {
    readonly operator: string
    readonly lang?: Language | undefined
    readonly isShadow?: true
  }
  /** Enough of its address to tell it from others, without a secret. */
  readonly hint?: string
  /** Another one once its secrets are others, wherever they are stored: it may work then (docs/rules.md#repaired-receivers). */
  readonly mark?: string
  /** A danger of its settings, which the doctor names; absent without one. */
  readonly caution?: string
  readonly test: Effect.Effect<TestReceipt>
}

export class Notifiers extends Context.Service<Notifiers, ReadonlyMap<NotifierName, Notifier>>()(
  "@tocsin/core/heart/notifications/Notifiers",
) {}

/** A watchdog ping: all is well, or what is not. */
export type WatchdogPing = { readonly isWell: true } | { readonly isWell: false; readonly text: string }

/** Another system that raises the alarm when watchdog pings stop or report trouble. */
export class WatchdogReceiver extends Context.Service<
  WatchdogReceiver,
  {
    /** Makes one attempt. Never fails: errors are results, without an address. Ends within 10 s. */
    readonly send: (watchdog: WatchdogPing) => Effect.Effect<TestReceipt>
  }
>()("@tocsin/core/ports/WatchdogReceiver") {}

export const toNotifierTest = ({ result, status }: TestReceipt) => ({
  outcome: result.outcome,
  status: status ?? null,
  error: result.error ?? null,
})

import type { Duration } from "effect"
import type { Acknowledgement } from "../model/Acknowledgement.ts"
import type { OutboxId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { FiringCause, NotificationType, NotifierName, Severity } from "@tocsin/contract/Status"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { memberCount } from "../model/MemberRecord.ts"
import type { FoundRunbook } from "@tocsin/contract/PolicyDocument"
import type { AlertRecord } from "../model/OutboxRecord.ts"

/** Addresses for the reader of a message (docs/rules.md#links). */
export interface MessageLinks {
  /** The incident in the console. */
  readonly incident: string
  /** A page that acknowledges the incident for so long. */
  readonly acknowledge: { readonly url: string; readonly for: Duration.Duration } | undefined
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
  readonly severity: Severity
  /**
   * The incident's summary when the notification was enqueued: one line of at most 512 characters.
   */
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
  /** Number of this attempt, from 1. */
  readonly attempt: number
  /** The incident now; `agent_id` and `check_id` name its only member. */
  readonly incident: Pick<
    IncidentRecord,
    | "id"
    | "incident_key"
    | "agent_id"
    | "check_id"
    | "opener_agent_id"
    | "opener_check_id"
    | "opened_at"
    | "resolved_at"
    | "summary"
  > & {
    /** How many checks are in it now. */
    readonly members: number
  }
}

/** An alert to send again, held by this process until its lease ends. */
export interface ClaimedAlert {
  readonly alert: AlertRecord
  readonly incident: DeliveryAttempt["incident"]
  readonly runbook?: FoundRunbook | undefined
  /** It is sent as ended, and not again. */
  readonly isLast?: true
}

/** The incident as notifications and alerts show it. */
export const incidentFacts = (incident: IncidentRecord): DeliveryAttempt["incident"] => ({
  id: incident.id,
  incident_key: incident.incident_key,
  agent_id: incident.agent_id,
  check_id: incident.check_id,
  opener_agent_id: incident.opener_agent_id,
  opener_check_id: incident.opener_check_id,
  opened_at: incident.opened_at,
  resolved_at: incident.resolved_at,
  summary: incident.summary,
  members: memberCount(incident),
})

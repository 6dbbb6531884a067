import { Struct } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { AgentRecord, BlockedKeyRecord } from "../model/AgentRecord.ts"
import type { AuditRecord } from "../model/AuditRecord.ts"
import type { CheckRecord, StoredHistoryRecord } from "../model/CheckRecord.ts"
import type { AuditEntry } from "@tocsin/contract/Audit"
import type {
  Agent,
  AgentBlacklistItem,
  CheckState,
  Incident,
  NotificationOutboxItem,
  StoredCheckResultEvent,
} from "@tocsin/contract/Resources"
import type { Announcement } from "@tocsin/contract/Announcements"
import type { Silence } from "@tocsin/contract/Silences"
import type { NotifierName } from "@tocsin/contract/Status"
import { UNTIL_A_CHANGE } from "../firings/Hold.ts"
import type { NextFiring, HeldBy, Outlook } from "../firings/readHolds.ts"
import {
  type Acknowledgement,
  acknowledgementInForce,
  acknowledgementOf,
  isAcknowledged,
} from "../model/Acknowledgement.ts"
import type { IncidentChangeRecord, IncidentLogRecord, IncidentRecord } from "../model/IncidentRecord.ts"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import { agentStatus, type StatusContext } from "../liveness/agentStatus.ts"
import { isFiring, isShadow, type OutboxRecord } from "../model/OutboxRecord.ts"
import { explainNotification } from "../notifications/explainNotification.ts"
import type { TestReceipt } from "../ports/Notifiers.ts"
import type { IncidentTimeline } from "../ports/Storage.ts"
import { type AnnouncementRecord, announcementState } from "../model/AnnouncementRecord.ts"
import { type SilenceRecord, silenceState } from "../model/SilenceRecord.ts"

export const toAgent = (record: AgentRecord, context: StatusContext): Agent => ({
  agent_id: record.agent_id,
  hostname: record.hostname,
  status: agentStatus(record.last_seen_at, context),
  admission_state: record.admission_state,
  rotation_pending: record.admission_state === "accepted" && record.pending_key_hash !== undefined,
  key_fingerprint: record.key_fingerprint,
  last_seen_at: record.last_seen_at,
  features: record.features,
  ...(record.labels !== undefined && { labels: record.labels }),
})

export const toCheckState = (record: CheckRecord): CheckState => ({
  ...Struct.pick(record, ["agent_id", "check_id", "status", "last_observed_at", "exit_code"]),
  ...(record.incident_key !== undefined && { incident_key: record.incident_key }),
  ...(record.summary !== undefined && { summary: record.summary }),
})

export const toStoredEvent = (record: StoredHistoryRecord): StoredCheckResultEvent => {
  const { seq: _seq, registration_id: _registration_id, ...event } = record
  return event
}

/** A heartbeat incident has no check (docs/rules.md#heartbeat-incidents). */
export const toIncident = (record: IncidentRecord): Incident => ({
  ...Struct.pick(record, ["id", "incident_key", "state", "severity"]),
  ...(record.agent_id !== undefined && { agent_id: record.agent_id }),
  ...(record.check_id !== undefined && record.check_id !== HEARTBEAT && { check_id: record.check_id }),
  opened_at: record.opened_at,
  resolved_at: record.resolved_at ?? null,
  ...(record.summary !== undefined && { summary: record.summary }),
})

export const toOutboxItem = (record: OutboxRecord): NotificationOutboxItem => ({
  ...Struct.pick(record, ["id", "notifier", "state", "incident_id", "event_type", "attempts"]),
  next_attempt_at: record.next_attempt_at ?? null,
  last_error: isShadow(record) ? "shadow" : (record.last_error ?? null),
  updated_at: record.updated_at,
})

export const toAuditEntry = (record: AuditRecord): AuditEntry => ({
  id: record.id,
  at: record.recorded_at,
  ...Struct.pick(record, ["actor", "via", "action", "subjects"]),
  parameters: record.parameters ?? {},
  request_id: record.request_id ?? null,
})

export const toBlacklistItem = (record: BlockedKeyRecord): AgentBlacklistItem => ({
  id: record.blacklist_id,
  ...Struct.pick(record, ["key_fingerprint", "agent_id", "hostname"]),
  created_at: record.blocked_at,
  last_seen_at: record.last_seen_at,
})

export const toAcknowledgement = ({ note, ...rest }: Acknowledgement) => ({
  ...rest,
  ...(note !== undefined && { note }),
})

/** The acknowledgement of an open incident while it is in force; the last one of a resolved incident. */
const shownAcknowledgement = (incident: IncidentRecord, now: Instant.Instant) => {
  const acknowledgement =
    incident.state === "open" ? acknowledgementInForce(incident, now) : acknowledgementOf(incident)
  return acknowledgement === undefined ? null : toAcknowledgement(acknowledgement)
}

/** An incident with what withholds its firings, as /ops/v1 shows it. */
export const toHeldIncident = (record: IncidentRecord, held: HeldBy | undefined, now: Instant.Instant) => ({
  ...toIncident(record),
  acknowledgement: isAcknowledged(record, now) ? shownAcknowledgement(record, now) : null,
  held_by: held?.held_by ?? [],
})

/** Whether a receiver was notified of an incident, by the firing that says it. */
export const toNotifiedReceiver = ({
  held_by,
  receiver,
  state,
}: Pick<OutboxRecord, "receiver" | "state"> & Pick<HeldBy, "held_by">) => ({ receiver, state, held_by })

/** A notification with what withholds it, as /ops/v1 shows it. */
export const toHeldOutboxItem = (
  record: OutboxRecord,
  held: HeldBy | undefined,
  incident: Pick<IncidentRecord, "incident_key" | "summary">,
) => ({
  ...toOutboxItem(record),
  incident_key: incident.incident_key,
  summary: incident.summary ?? null,
  receiver: record.receiver,
  cause: record.cause ?? null,
  ...(record.rotas && { rotas: record.rotas }),
  held_by: held?.held_by ?? [],
  held_until: held?.held_until ?? null,
})

/** A change of an incident's members, as timelines and simulations show it. */
export const toTimelineEntry = (record: IncidentChangeRecord) => ({
  at: record.changed_at,
  ...Struct.pick(record, ["change", "agent_id", "check_id", "severity"]),
  incident_severity: record.incident_severity ?? null,
})

export const toLogEntry = ({ ack_until, action, logged_at, actor, severity, text }: IncidentLogRecord) => ({
  at: logged_at,
  action,
  by: actor,
  ...(text !== undefined && { text }),
  ...(ack_until !== undefined && { until: ack_until }),
  ...(severity !== undefined && { severity }),
})

/** A timeline with what its notifications wait for now. */
export interface HeldTimeline extends IncidentTimeline, Omit<Outlook, "silences"> {
  /** Newest first. */
  readonly silences: ReadonlyArray<CoveringSilence>
  /** The receivers that servers send to. */
  readonly served: ReadonlySet<NotifierName>
}

export const toSilence = (record: SilenceRecord, now: Instant.Instant): Silence => ({
  ...record,
  state: silenceState(record, now),
})

export const toAnnouncement = (record: AnnouncementRecord, now: Instant.Instant): Announcement => ({
  ...record,
  state: announcementState(record, now),
  ends_at: record.ends_at ?? null,
  updates: record.updates.map((update) => ({ ...update, at: Instant.fromMicros(BigInt(update.at)) })),
})

/** A silence in force while an incident was open, that covered at least one of its members. */
export interface CoveringSilence {
  readonly silence: SilenceRecord
  readonly covers_all: boolean
}

const SHOWN_DELIVERIES = 200
const SHOWN_SILENCES = 200

/** The last firing that each receiver got, by receiver; items come newest first. */
const notifiedBy = (outbox: ReadonlyArray<OutboxRecord>) => {
  const sent = outbox.filter((item) => isFiring(item) && item.state === "sent").toReversed()
  return Array.from(new Map(sent.map((item) => [item.receiver, item])).values())
    .toSorted((a, b) => (a.receiver < b.receiver ? -1 : 1))
    .map(({ cause, receiver, severity, updated_at }) => ({
      receiver,
      cause: cause ?? null,
      severity,
      at: updated_at,
    }))
}

const toNextFiring = ({ cause, due, holds, receiver }: NextFiring) => ({
  receiver,
  cause: cause ?? null,
  due_at: due ?? null,
  holds: holds.map(({ by, until }) => ({ hold: by, until: until === UNTIL_A_CHANGE ? null : until })),
})

export const toIncidentDetail = ({
  log,
  incident,
  members,
  changes,
  outbox,
  held,
  heldItems,
  served,
  next,
  now,
  labels,
  runbook,
  silences,
}: HeldTimeline) => ({
  incident: toIncident(incident),
  members: members.map((member, place) => ({
    ...Struct.pick(member, ["agent_id", "check_id", "severity"]),
    summary: member.summary ?? null,
    joined_at: member.joined_at,
    left_at: member.left_at ?? null,
    labels: labels[place] ?? {},
  })),
  timeline: changes.map(toTimelineEntry),
  acknowledgement: shownAcknowledgement(incident, now),
  log: log.map(toLogEntry),
  // Changes are numbered from 1 without gaps.
  timeline_left_out: Math.max(incident.member_changes - changes.length, 0),
  held_by: held?.held_by ?? [],
  runbook: runbook === undefined ? null : { url: runbook.url, note: runbook.note ?? null },
  notified: notifiedBy(outbox),
  next: next.map(toNextFiring),
  silences: silences
    .slice(0, SHOWN_SILENCES)
    .map(({ covers_all, silence }) => ({ ...toSilence(silence, now), covers_all })),
  silences_left_out: Math.max(silences.length - SHOWN_SILENCES, 0),
  deliveries: outbox.slice(0, SHOWN_DELIVERIES).map((item) => {
    const heldBy = heldItems.get(item.id)
    return {
      ...toHeldOutboxItem(item, heldBy, incident),
      why: explainNotification(item, { outbox, held: heldBy, served }),
    }
  }),
})

export const toNotifierTest = ({ result, status }: TestReceipt) => ({
  outcome: result.outcome,
  status: status ?? null,
  error: result.error ?? null,
})

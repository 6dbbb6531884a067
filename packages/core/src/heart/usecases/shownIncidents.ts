import { Effect, Struct } from "effect"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { Incident } from "@tocsin/contract/v1/Resources"
import { compileMatchers } from "@tocsin/contract/labels/Matcher"
import { type SilenceRecord, toSilence } from "../model/SilenceRecord.ts"
import type { IncidentTimeline, Storage } from "../../kernel/ports/Storage.ts"
import { UNTIL_A_CHANGE } from "../firings/Hold.ts"
import { silencedFacts } from "../firings/loudMembers.ts"
import type { NextFiring } from "../firings/nextFirings.ts"
import type { HeldBy, Outlook } from "../firings/readHolds.ts"
import { isAcknowledged, shownAcknowledgement } from "../model/Acknowledgement.ts"
import { type IncidentRecord, toLogEntry, toTimelineEntry } from "../model/IncidentRecord.ts"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import { isFiring, type OutboxRecord, toOutboxItem } from "../model/OutboxRecord.ts"
import { explainNotification } from "../notifications/explainNotification.ts"
import { toResolution } from "../notifications/resolutionText.ts"
import { isOfAgent } from "../policy/compilePolicy.ts"

/** A heartbeat incident has no check (docs/rules.md#heartbeat-incidents). */
export const toIncident = (record: IncidentRecord): Incident => ({
  ...Struct.pick(record, ["id", "incident_key", "state", "severity"]),
  ...(record.agent_id !== undefined && { agent_id: record.agent_id }),
  ...(record.check_id !== undefined && record.check_id !== HEARTBEAT && { check_id: record.check_id }),
  opened_at: record.opened_at,
  resolved_at: record.resolved_at ?? null,
  ...(record.summary !== undefined && { summary: record.summary }),
})

/** An incident with what withholds its firings, as /ops/v1 shows it. */
export const toHeldIncident = (
  record: IncidentRecord,
  held: HeldBy | undefined,
  title: string | undefined,
  now: Instant.Instant,
) => ({
  ...toIncident(record),
  title: title ?? null,
  resolution: toResolution(record),
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
  title: string | undefined,
) => ({
  ...toOutboxItem(record),
  incident_key: incident.incident_key,
  title: title ?? null,
  summary: incident.summary ?? null,
  receiver: record.receiver,
  cause: record.cause ?? null,
  ...(record.rotas && { rotas: record.rotas }),
  held_by: held?.held_by ?? [],
  held_until: held?.held_until ?? null,
})

/** A timeline with what its notifications wait for now. */
export interface HeldTimeline extends IncidentTimeline, Omit<Outlook, "silences"> {
  /** Newest first. */
  readonly silences: ReadonlyArray<CoveringSilence>
  readonly title: string | undefined
  /** The titles of its members, in their order. */
  readonly memberTitles: ReadonlyArray<string | undefined>
  /** The receivers that servers send to. */
  readonly served: ReadonlySet<NotifierName>
}

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
  title,
  memberTitles,
}: HeldTimeline) => ({
  incident: { ...toIncident(incident), title: title ?? null, resolution: toResolution(incident) },
  members: members.map((member, place) => ({
    ...Struct.pick(member, ["agent_id", "check_id", "severity"]),
    summary: member.summary ?? null,
    joined_at: member.joined_at,
    left_at: member.left_at ?? null,
    labels: labels[place] ?? {},
    title: memberTitles[place] ?? null,
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
      ...toHeldOutboxItem(item, heldBy, incident, title),
      why: explainNotification(item, { outbox, held: heldBy, served }),
    }
  }),
})

const READ_TOGETHER = 8
/** After so many silences, compared with up to 200 members, other requests have their turn. */
const COMPARED_TOGETHER = 100

/** Of these silences, those that matched a member of an incident at a severity that it had. */
export const coveringSilences = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { changes, incident, labels, members }: IncidentTimeline,
  silences: ReadonlyArray<SilenceRecord>,
) {
  const ids = silences.some(({ matchers }) => matchers.some(isOfAgent))
    ? Array.from(new Set(members.map(({ agent_id }) => agent_id)))
    : []
  const read = yield* Effect.forEach(ids, storage.agent, { concurrency: READ_TOGETHER })
  const agents = new Map(ids.map((id, place) => [id, read[place]]))
  const had = new Set([incident.severity, ...changes.flatMap((change) => change.incident_severity ?? [])])
  const facts = members.map((member, place) =>
    Array.from(had, (severity) =>
      silencedFacts({ ...incident, severity }, member, agents.get(member.agent_id), labels[place]),
    ),
  )
  const covering: Array<CoveringSilence> = []
  for (const [place, silence] of silences.entries()) {
    if (place % COMPARED_TOGETHER === COMPARED_TOGETHER - 1) yield* Effect.yieldNow
    // Without matchers its row is damaged: an empty list would match everything.
    if (silence.matchers.length === 0) continue
    const matches = compileMatchers(silence.matchers)
    const covered = facts.filter((some) => some.some(matches)).length
    if (covered > 0) covering.push({ silence, covers_all: covered === members.length })
  }
  return covering.toSorted((a, b) => (a.silence.id < b.silence.id ? 1 : -1))
})

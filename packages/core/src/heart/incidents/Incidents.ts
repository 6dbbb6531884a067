import {
  endedAcknowledgement,
  acknowledgementOf,
  AcknowledgementTransitions,
  NOT_ACKNOWLEDGED,
} from "../model/Acknowledgement.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import { announce, forgetsAt, NOT_ANNOUNCED } from "../model/Announced.ts"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { type Decision, load, missingRows } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { endQuiet, hasHeld } from "../firings/Hold.ts"
import { endAlerts } from "../notifications/alertDecisions.ts"
import { enqueueOwed, type EnqueueOptions, closeAgentGone, closeResolved } from "../notifications/enqueue.ts"
import type { IncidentOptions } from "./incidentOptions.ts"
import {
  type IncidentChangeRecord,
  type IncidentRecord,
  type IncidentRef,
  IncidentTransitions,
  type Leaving,
  soonOf,
} from "../model/IncidentRecord.ts"
import { SYSTEM } from "../../kernel/ports/CurrentOperator.ts"
import {
  memberCount,
  type MemberCounts,
  type MemberRecord,
  type MemberRef,
  NO_MEMBERS,
  recountMembers,
  isBelow,
  worstSeverity,
} from "../model/MemberRecord.ts"
import { compareMembers } from "../../kernel/unitOfWork/Standings.ts"
import { recordLogEntry } from "../audit/recordAudit.ts"

const FIRST_LOOK = 8
const GROWTH = 4

/**
 * The worst member of an incident. Reads the ranking from its top, and further down only while all
 * members read so far have left or improved in this transaction.
 */
function* worstMember(unit: UnitOfWork, incident: IncidentRecord): Decision<MemberRecord> {
  for (let limit = FIRST_LOOK; ; limit *= GROWTH) {
    yield* load(unit, { worstMembers: { incident_id: incident.id, limit } })
    const ranking = unit.rankings.get(incident.id)
    if (ranking === undefined) throw new Error(`the ranking of incident ${incident.id} was not loaded`)
    const worst = unit.worstOf(incident.id)
    const known = ranking.complete || ranking.floor === undefined
    if (worst !== undefined && (known || compareMembers(worst, ranking.floor) <= 0)) return worst
    if (ranking.complete) throw new Error(`incident ${incident.id} counts members that it does not have`)
  }
}

/** A change of a membership: the check, its severity now, and whether to notify. */
interface MemberChange {
  readonly member: Pick<MemberRecord, "agent_id" | "check_id" | "severity" | "summary"> &
    Partial<Pick<MemberRecord, "is_own">>
  readonly notify: boolean
  /** Of a check that joins because it is late. */
  readonly isLate?: true
}

/** The members of an open incident, as far as it shows them. */
interface Membership {
  readonly state: "open"
  readonly counts: MemberCounts
  readonly worst: MemberRecord
}

/** Incident decisions on one unit of work at one moment. */
export class Incidents {
  readonly unit: UnitOfWork
  readonly options: IncidentOptions
  readonly #enqueue: EnqueueOptions

  constructor(unit: UnitOfWork, options: IncidentOptions) {
    this.unit = unit
    this.options = options
    const { newOutboxId, policy, staleAfter } = options
    this.#enqueue = { policy: policy(), staleAfter, newOutboxId, now: unit.now }
  }

  /** A check that is not ok joins the open incident of `ref`, or opens it. Returns the incident's ID. */
  *join(ref: IncidentRef, change: MemberChange): Decision<IncidentId> {
    const unit = this.unit
    if (!unit.openIncidents.isLoaded(ref)) yield { openIncidents: [ref] }
    const before = unit.openIncident(ref) ?? this.#open(ref, change)
    const { agent_id, check_id, is_own, severity, summary } = change.member
    const member: MemberRecord = {
      incident_id: before.id,
      agent_id,
      check_id,
      severity,
      change_seq: before.member_changes + 1,
      summary,
      joined_at: this.unit.now,
      is_loud: change.notify,
      is_own,
      left_at: undefined,
    }
    unit.putMember(member)
    const counts = recountMembers(before, undefined, severity)
    // The latest change has the highest number, so it ranks first among equally severe members.
    const worst = severity === worstSeverity(counts) ? member : yield* worstMember(unit, before)
    const state = move(IncidentTransitions, "open", "member_joined")
    const incident = this.#refresh(before, { state, counts, worst }, change.notify)
    this.#recordChange(incident, member, "joined", change.isLate)
    yield* this.#announce(before, incident, change.notify)
    return incident.id
  }

  *change(incident_id: IncidentId, change: MemberChange): Decision<void> {
    const unit = this.unit
    const { agent_id, check_id, severity, summary } = change.member
    const ref: MemberRef = { incident_id, agent_id, check_id }
    const missing = missingRows(unit, { incidents: [incident_id], rows: { incident_member: [ref] } })
    if (missing !== undefined) yield missing
    const { incident: before, member } = this.#find(ref)
    const changed: MemberRecord = {
      ...member,
      severity,
      summary,
      change_seq: before.member_changes + 1,
      is_loud: change.notify,
    }
    unit.putMember(changed)
    const counts = recountMembers(before, member.severity, severity)
    // The latest change has the highest number, so it ranks first among equally severe members.
    const worst = severity === worstSeverity(counts) ? changed : yield* worstMember(unit, before)
    const state = move(IncidentTransitions, "open", "member_changed")
    const worsened = isBelow(member.severity, severity)
    const isLoud = worsened && change.notify
    const incident = this.#refresh(before, { state, counts, worst }, isLoud)
    this.#recordChange(incident, changed, worsened ? "worsened" : "improved")
    yield* this.#announce(before, incident, isLoud)
  }

  /** A member's latest output has another headline; the incident shows that of its worst member. */
  *resummarize(ref: MemberRef, summary: string | undefined): Decision<void> {
    yield* load(this.unit, { incidents: [ref.incident_id], rows: { incident_member: [ref] } })
    const { incident, member } = this.#find(ref)
    if (member.summary === summary) return
    this.unit.putMember({ ...member, summary })
    const worst = yield* worstMember(this.unit, incident)
    if (incident.summary !== worst.summary) this.unit.incidents.put({ ...incident, summary: worst.summary })
  }

  /** A member leaves. The last one resolves the incident, which keeps its appearance. */
  *leave(ref: MemberRef, leaving: Leaving): Decision<void> {
    const unit = this.unit
    const missing = missingRows(unit, { incidents: [ref.incident_id], rows: { incident_member: [ref] } })
    if (missing !== undefined) yield missing
    const { incident: before, member } = this.#find(ref)
    unit.putMember({ ...member, left_at: this.unit.now })
    const counts = recountMembers(before, member.severity, undefined)
    if (memberCount(counts) === 0) return this.#resolve(before, member, leaving)
    const state = move(IncidentTransitions, "open", "member_left")
    const worst = yield* worstMember(unit, before)
    const incident = this.#refresh(before, { state, counts, worst }, false)
    this.#recordChange(incident, member, "left")
    yield* this.#announce(before, incident, false)
  }

  #resolve(before: IncidentRecord, last: MemberRecord, leaving: Leaving): void {
    const unit = this.unit
    const resolved: IncidentRecord = {
      ...before,
      ...recountMembers(before, last.severity, undefined),
      ...NOT_ACKNOWLEDGED,
      next_evaluation_at: undefined,
      state: move(IncidentTransitions, "open", "last_member_left"),
      member_changes: before.member_changes + 1,
      resolved_at: this.unit.now,
      resolved_by: leaving.by,
      resolution: leaving.resolution,
    }
    unit.incidents.put(resolved)
    unit.openIncidents.delete(resolved)
    this.#recordChange(resolved, last, "left")
    endAlerts(unit, resolved, this.unit.now)
    if (leaving.by === "agent_gone") return closeAgentGone(unit, resolved, this.#enqueue)
    const wasAcknowledged = before.ack_until !== undefined
    if (wasAcknowledged) endQuiet(unit, before)
    closeResolved(unit, resolved, { notify: leaving.notify, wasAcknowledged }, this.#enqueue)
  }

  /**
   * Enqueues what an event makes owed. A loud one that leaves the incident worse than acknowledged ends the
   * acknowledgement, and every receiver of a first step is notified again.
   */
  *#announce(before: IncidentRecord, incident: IncidentRecord, isLoud: boolean): Decision<void> {
    const acknowledged = acknowledgementOf(incident)?.severity
    const toAll = isLoud && acknowledged !== undefined && isBelow(acknowledged, incident.severity)
    const { announced } = incident
    const isWorse = announced !== undefined && isBelow(before.announced, announced)
    const event = { toAll, isLoud, was: isWorse ? before.announced : undefined }
    if (!toAll) return yield* enqueueOwed(this.unit, incident, event, this.#enqueue)
    move(AcknowledgementTransitions, "acknowledged", "worsened")
    const { now } = this.unit
    const unacknowledged = {
      ...incident,
      ...endedAcknowledgement(now),
      next_evaluation_at: soonOf(incident, now),
    }
    endQuiet(this.unit, incident)
    const act = { action: "worsened", actor: SYSTEM, severity: incident.severity } as const
    recordLogEntry(this.unit, unacknowledged, act)
    yield* enqueueOwed(this.unit, unacknowledged, event, this.#enqueue)
  }

  #open(ref: IncidentRef, { member }: MemberChange): IncidentRecord {
    const { agent_id, check_id, severity, summary } = member
    const id = this.options.newIncidentId(this.unit.now)
    this.unit.openIncidents.put({ kind: ref.kind, incident_key: ref.incident_key, id })
    this.unit.rankings.set(id, { limit: 0, floor: undefined, complete: true })
    return {
      kind: ref.kind,
      incident_key: ref.incident_key,
      id,
      state: move(IncidentTransitions, "absent", "member_joined"),
      severity,
      agent_id,
      check_id,
      opener_agent_id: agent_id,
      opener_check_id: check_id,
      opened_at: this.unit.now,
      resolved_at: undefined,
      resolved_by: undefined,
      resolution: undefined,
      summary,
      member_changes: 0,
      ...NO_MEMBERS,
      ...NOT_ACKNOWLEDGED,
      ...NOT_ANNOUNCED,
      steps_began_at: undefined,
      next_evaluation_at: undefined,
      log_entries: 0,
    }
  }

  #refresh(before: IncidentRecord, { state, counts, worst }: Membership, isLoud: boolean): IncidentRecord {
    const isSingle = memberCount(counts) === 1
    const { severity } = worst
    const { policy } = this.#enqueue
    const { now } = this.unit
    const isEvaluated = policy.hasTimers || hasHeld(this.unit, before)
    const columns = announce({ ...before, severity }, isLoud, { now, againAfter: policy.againAfter })
    const incident: IncidentRecord = {
      ...before,
      ...counts,
      ...columns,
      state,
      severity,
      agent_id: isSingle ? worst.agent_id : undefined,
      check_id: isSingle ? worst.check_id : undefined,
      summary: worst.summary,
      member_changes: before.member_changes + 1,
      next_evaluation_at: isEvaluated
        ? soonOf(before, now)
        : Instant.earliest([before.next_evaluation_at, forgetsAt(columns, policy.againAfter)]),
    }
    this.unit.incidents.put(incident)
    endAlerts(this.unit, incident, now)
    return incident
  }

  #recordChange(
    incident: IncidentRecord,
    member: MemberRecord,
    change: IncidentChangeRecord["change"],
    is_late?: true,
  ): void {
    this.unit.recordChange({
      incident_id: incident.id,
      seq: incident.member_changes,
      changed_at: this.unit.now,
      change,
      agent_id: member.agent_id,
      check_id: member.check_id,
      severity: member.severity,
      incident_severity: incident.state === "open" ? incident.severity : undefined,
      is_late,
    })
  }

  #find(ref: MemberRef): { readonly incident: IncidentRecord; readonly member: MemberRecord } {
    const incident = this.unit.incidents.get(ref.incident_id)
    const member = this.unit.members.get(ref)
    if (incident?.state !== "open" || member === undefined || member.left_at !== undefined) {
      throw new Error(
        `check ${ref.agent_id}/${ref.check_id} is no member of an open incident ${ref.incident_id}`,
      )
    }
    return { incident, member }
  }
}

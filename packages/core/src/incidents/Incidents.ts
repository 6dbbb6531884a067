import { acknowledgementOf, NOT_ACKNOWLEDGED } from "../model/Acknowledgement.ts"
import { AcknowledgementTransitions } from "../model/AcknowledgementTransitions.ts"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import type { Decision } from "../engine/workspace/Decision.ts"
import { ensure, missingRows } from "../engine/workspace/ensure.ts"
import type { Workspace } from "../engine/workspace/Workspace.ts"
import { lookSoon } from "../holds/heldItems.ts"
import { endAlerts } from "../notifications/alertDecisions.ts"
import {
  enqueueFirings,
  type EnqueueOptions,
  settleAgentGone,
  settleResolved,
} from "../notifications/enqueue.ts"
import { SYSTEM } from "../model/IncidentActRecord.ts"
import type { IncidentOptions } from "./incidentOptions.ts"
import {
  type IncidentChangeRecord,
  type IncidentRecord,
  type IncidentRef,
  type Leaving,
} from "../model/IncidentRecord.ts"
import { IncidentTransitions } from "../model/IncidentTransitions.ts"
import { type MemberCounts, memberCount, NO_MEMBERS, recount, worstSeverity } from "../model/memberCounts.ts"
import { compareMembers, type MemberRecord, type MemberRef, SEVERITY_RANK } from "../model/MemberRecord.ts"
import { recordAct } from "./recordAct.ts"

const FIRST_LOOK = 8
const GROWTH = 4

/**
 * The worst member of an incident. Reads the ranking from its top, and further down only while all
 * members read so far have left or improved in this transaction.
 */
function* worstMember(workspace: Workspace, incident: IncidentRecord): Decision<MemberRecord> {
  for (let limit = FIRST_LOOK; ; limit *= GROWTH) {
    yield* ensure(workspace, { worstMembers: { incident_id: incident.id, limit } })
    const ranking = workspace.rankings.get(incident.id)
    if (ranking === undefined) throw new Error(`the ranking of incident ${incident.id} was not loaded`)
    const worst = workspace.worstOf(incident.id)
    const known = ranking.complete || ranking.floor === undefined
    if (worst !== undefined && (known || compareMembers(worst, ranking.floor) <= 0)) return worst
    if (ranking.complete) throw new Error(`incident ${incident.id} counts members that it does not have`)
  }
}

/** A change of a membership: the check, its severity now, and whether to notify. */
export interface MemberChange {
  readonly member: Pick<MemberRecord, "agent_id" | "check_id" | "severity" | "summary">
  readonly notify: boolean
}

/** The members of an open incident, as far as it shows them. */
interface Membership {
  readonly state: "open"
  readonly counts: MemberCounts
  readonly worst: MemberRecord
}

/** Incident decisions on one workspace at one moment. */
export class Incidents {
  readonly #workspace: Workspace
  readonly #now: Instant
  readonly #options: IncidentOptions
  readonly #enqueue: EnqueueOptions

  constructor(workspace: Workspace, now: Instant, options: IncidentOptions) {
    this.#workspace = workspace
    this.#now = now
    this.#options = options
    this.#enqueue = { policy: options.policy(), newOutboxId: options.newOutboxId, now }
  }

  /**
   * A check that is not ok joins the open incident of `ref`, or opens it. Returns the incident's
   * ID.
   */
  *join(ref: IncidentRef, change: MemberChange): Decision<IncidentId> {
    const workspace = this.#workspace
    if (!workspace.openIncidents.isLoaded(ref)) yield { openIncidents: [ref] }
    const before = workspace.openIncident(ref) ?? this.#open(ref, change)
    const { agent_id, check_id, severity, summary } = change.member
    const member: MemberRecord = {
      incident_id: before.id,
      agent_id,
      check_id,
      severity,
      change_seq: before.member_changes + 1,
      summary,
      joined_at: this.#now,
      is_loud: change.notify,
      left_at: undefined,
    }
    workspace.putMember(member)
    const counts = recount(before, undefined, severity)
    // The latest change has the highest number, so it ranks first among equally severe members.
    const worst = severity === worstSeverity(counts) ? member : yield* worstMember(workspace, before)
    const state = move(IncidentTransitions, "open", "member_joined")
    const incident = this.#refresh(before, { state, counts, worst })
    this.#recordChange(incident, member, "joined")
    if (change.notify) yield* this.#notify(incident, member)
    return incident.id
  }

  /** A member stays with another severity. */
  *change(incident_id: IncidentId, change: MemberChange): Decision<void> {
    const workspace = this.#workspace
    const { agent_id, check_id, severity, summary } = change.member
    const ref: MemberRef = { incident_id, agent_id, check_id }
    const missing = missingRows(workspace, { incidents: [incident_id], members: [ref] })
    if (missing !== undefined) yield missing
    const { incident: before, member } = this.#find(ref)
    const changed: MemberRecord = {
      ...member,
      severity,
      summary,
      change_seq: before.member_changes + 1,
      is_loud: change.notify,
    }
    workspace.putMember(changed)
    const counts = recount(before, member.severity, severity)
    // The latest change has the highest number, so it ranks first among equally severe members.
    const worst = severity === worstSeverity(counts) ? changed : yield* worstMember(workspace, before)
    const state = move(IncidentTransitions, "open", "member_changed")
    const incident = this.#refresh(before, { state, counts, worst })
    const worsened = SEVERITY_RANK[severity] > SEVERITY_RANK[member.severity]
    this.#recordChange(incident, changed, worsened ? "worsened" : "improved")
    if (worsened && change.notify) yield* this.#notify(incident, changed)
  }

  /**
   * A member's latest output has another first line; the incident shows that of its worst member.
   */
  *resummarize(ref: MemberRef, summary: string | undefined): Decision<void> {
    yield* ensure(this.#workspace, { incidents: [ref.incident_id], members: [ref] })
    const { incident, member } = this.#find(ref)
    if (member.summary === summary) return
    this.#workspace.putMember({ ...member, summary })
    const worst = yield* worstMember(this.#workspace, incident)
    if (incident.summary !== worst.summary)
      this.#workspace.incidents.put({ ...incident, summary: worst.summary })
  }

  /**
   * A member leaves. The incident resolves with its last member, and keeps what it showed
   * (docs/rules.md#incidents).
   */
  *leave(ref: MemberRef, leaving: Leaving): Decision<void> {
    const workspace = this.#workspace
    const missing = missingRows(workspace, { incidents: [ref.incident_id], members: [ref] })
    if (missing !== undefined) yield missing
    const { incident: before, member } = this.#find(ref)
    workspace.putMember({ ...member, left_at: this.#now })
    const counts = recount(before, member.severity, undefined)
    if (memberCount(counts) === 0) return this.#resolve(before, member, leaving)
    const state = move(IncidentTransitions, "open", "member_left")
    const worst = yield* worstMember(workspace, before)
    this.#recordChange(this.#refresh(before, { state, counts, worst }), member, "left")
  }

  #resolve(before: IncidentRecord, last: MemberRecord, leaving: Leaving): void {
    const workspace = this.#workspace
    const resolved: IncidentRecord = {
      ...before,
      ...recount(before, last.severity, undefined),
      ...NOT_ACKNOWLEDGED,
      next_look_at: undefined,
      state: move(IncidentTransitions, "open", "last_member_left"),
      member_changes: before.member_changes + 1,
      resolved_at: this.#now,
      resolved_by: leaving.by,
    }
    workspace.incidents.put(resolved)
    workspace.openIncidents.delete(resolved)
    this.#recordChange(resolved, last, "left")
    endAlerts(workspace, resolved, this.#now)
    if (leaving.by === "agent_gone") settleAgentGone(workspace, resolved, this.#enqueue)
    else settleResolved(workspace, resolved, leaving.notify, this.#enqueue)
  }

  /**
   * A member joined or worsened loudly. If the incident is now worse than acknowledged, that ends
   * the acknowledgement, and every receiver is notified again.
   */
  *#notify(incident: IncidentRecord, member: MemberRecord): Decision<void> {
    const acknowledged = acknowledgementOf(incident)?.severity
    const isWorse =
      acknowledged !== undefined && SEVERITY_RANK[incident.severity] > SEVERITY_RANK[acknowledged]
    if (!isWorse) return yield* enqueueFirings(this.#workspace, incident, member, this.#enqueue)
    move(AcknowledgementTransitions, "acknowledged", "worsened")
    const unacknowledged = { ...incident, ...NOT_ACKNOWLEDGED }
    const act = { act: "worsened", actor: SYSTEM, severity: incident.severity } as const
    recordAct(this.#workspace, unacknowledged, act, this.#now)
    yield* enqueueFirings(this.#workspace, unacknowledged, member, { ...this.#enqueue, again: true })
  }

  /** An incident that is about to get its first member. */
  #open(ref: IncidentRef, { member }: MemberChange): IncidentRecord {
    const { agent_id, check_id, severity, summary } = member
    const id = this.#options.newIncidentId(this.#now)
    this.#workspace.openIncidents.put({ kind: ref.kind, incident_key: ref.incident_key, id })
    this.#workspace.rankings.set(id, { limit: 0, floor: undefined, complete: true })
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
      opened_at: this.#now,
      resolved_at: undefined,
      resolved_by: undefined,
      summary,
      member_changes: 0,
      ...NO_MEMBERS,
      ...NOT_ACKNOWLEDGED,
      next_look_at: undefined,
      acts: 0,
    }
  }

  /** Updates an open incident from its present members. */
  #refresh(before: IncidentRecord, { state, counts, worst }: Membership): IncidentRecord {
    const isSingle = memberCount(counts) === 1
    const incident: IncidentRecord = {
      ...before,
      ...counts,
      state,
      severity: worst.severity,
      agent_id: isSingle ? worst.agent_id : undefined,
      check_id: isSingle ? worst.check_id : undefined,
      summary: worst.summary,
      member_changes: before.member_changes + 1,
      // Another member may be the worst now, with other routes.
      next_look_at: this.#enqueue.policy.hasTimers ? this.#now : before.next_look_at,
    }
    this.#workspace.incidents.put(incident)
    lookSoon(this.#workspace, incident.id, this.#now)
    endAlerts(this.#workspace, incident, this.#now)
    return incident
  }

  #recordChange(
    incident: IncidentRecord,
    member: MemberRecord,
    change: IncidentChangeRecord["change"],
  ): void {
    this.#workspace.recordChange({
      incident_id: incident.id,
      seq: incident.member_changes,
      changed_at: this.#now,
      change,
      agent_id: member.agent_id,
      check_id: member.check_id,
      severity: member.severity,
      incident_severity: incident.state === "open" ? incident.severity : undefined,
    })
  }

  #find(ref: MemberRef): { readonly incident: IncidentRecord; readonly member: MemberRecord } {
    const incident = this.#workspace.incidents.get(ref.incident_id)
    const member = this.#workspace.members.get(ref)
    if (incident?.state !== "open" || member === undefined || member.left_at !== undefined) {
      throw new Error(
        `check ${ref.agent_id}/${ref.check_id} is no member of an open incident ${ref.incident_id}`,
      )
    }
    return { incident, member }
  }
}

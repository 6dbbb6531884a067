import type { IncidentId, OutboxId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { NotifierKind, Severity } from "../contract/Status.ts"
import { endAlerts } from "../notifications/endAlerts.ts"
import {
  type EnqueueOptions,
  enqueueFirings,
  settleAbandoned,
  settleResolved,
} from "../notifications/enqueue.ts"
import { move } from "../TransitionTable.ts"
import type { Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import type { IncidentChangeRecord } from "./IncidentChangeRecord.ts"
import type { IncidentRecord, IncidentRef } from "./IncidentRecord.ts"
import { IncidentTransitions } from "./IncidentTransitions.ts"
import type { MemberRecord, MemberRef } from "./MemberRecord.ts"
import { SEVERITY_RANK } from "./Severity.ts"
import { worstMember } from "./worstMember.ts"

/** What incidents need besides the rows. */
export interface IncidentOptions {
  readonly notifiers: ReadonlyArray<NotifierKind>
  readonly newIncidentId: (now: Instant) => IncidentId
  readonly newOutboxId: (now: Instant) => OutboxId
}

/** One change of a membership: which check, how bad it is now, and whether people are told. */
export interface MemberChange {
  readonly member: Pick<MemberRecord, "agent_id" | "check_id" | "severity" | "summary">
  readonly notify: boolean
}

/** Why a member leaves: by an event of its own, silent or not, or because its agent is gone. */
export type Leaving = { readonly by: "event"; readonly notify: boolean } | { readonly by: "agent_gone" }

const COUNT_OF = {
  warning: "members_warning",
  unknown: "members_unknown",
  critical: "members_critical",
} as const satisfies Record<Severity, keyof IncidentRecord>

/** `incident` with one more change of its membership; the number of that change is its `member_changes`. */
const numbered = (incident: IncidentRecord): IncidentRecord => ({
  ...incident,
  member_changes: incident.member_changes + 1,
})

const count = (incident: IncidentRecord, severity: Severity, by: 1 | -1): IncidentRecord => ({
  ...incident,
  [COUNT_OF[severity]]: incident[COUNT_OF[severity]] + by,
})

const memberCount = (incident: IncidentRecord): number =>
  incident.members_warning + incident.members_unknown + incident.members_critical

const worstSeverity = (incident: IncidentRecord): Severity =>
  incident.members_critical > 0 ? "critical" : incident.members_unknown > 0 ? "unknown" : "warning"

/** Incident decisions over one workspace at one moment. */
export class Incidents {
  readonly #workspace: Workspace
  readonly #now: Instant
  readonly #options: IncidentOptions
  readonly #enqueue: EnqueueOptions

  constructor(workspace: Workspace, now: Instant, options: IncidentOptions) {
    this.#workspace = workspace
    this.#now = now
    this.#options = options
    this.#enqueue = { notifiers: options.notifiers, newOutboxId: options.newOutboxId, now }
  }

  /** A check that is not ok joins the open incident of `ref`, which opens where none is. Returns the incident's id. */
  *join(ref: IncidentRef, change: MemberChange): Decision<IncidentId> {
    const workspace = this.#workspace
    yield* ensure(workspace, { openIncidents: [ref] })
    const open = numbered(workspace.openIncident(ref) ?? this.#open(ref, change))
    const member: MemberRecord = {
      ...change.member,
      incident_id: open.id,
      change_seq: open.member_changes,
      joined_at: this.#now,
      left_at: undefined,
    }
    workspace.members.put(member)
    const counted = count(
      { ...open, state: move(IncidentTransitions, "open", "member_joined") },
      member.severity,
      1,
    )
    yield* this.#refresh(counted, member)
    this.#tell(counted, member, "joined")
    if (change.notify) this.#fire(open.id)
    return open.id
  }

  /** A member stays and is now as bad as `change` says. */
  *change(incidentId: IncidentId, change: MemberChange): Decision<void> {
    const workspace = this.#workspace
    const ref: MemberRef = { ...change.member, incident_id: incidentId }
    yield* ensure(workspace, { incidents: [incidentId], members: [ref] })
    const { incident, member } = this.#find(ref)
    const open = numbered(incident)
    const changed: MemberRecord = { ...member, ...change.member, change_seq: open.member_changes }
    workspace.members.put(changed)
    const counted = count(count(open, member.severity, -1), changed.severity, 1)
    yield* this.#refresh({ ...counted, state: move(IncidentTransitions, "open", "member_changed") }, changed)
    const worsened = SEVERITY_RANK[changed.severity] > SEVERITY_RANK[member.severity]
    this.#tell(counted, changed, worsened ? "worsened" : "improved")
    if (worsened && change.notify) this.#fire(incidentId)
  }

  /** A member's latest output has another first line: the incident's summary follows where that member speaks for it. */
  *resummarize(ref: MemberRef, summary: string | undefined): Decision<void> {
    yield* ensure(this.#workspace, { incidents: [ref.incident_id], members: [ref] })
    const { incident, member } = this.#find(ref)
    if (member.summary === summary) return
    this.#workspace.members.put({ ...member, summary })
    const worst = yield* worstMember(this.#workspace, incident)
    if (incident.summary !== worst.summary)
      this.#workspace.incidents.put({ ...incident, summary: worst.summary })
  }

  /** A member leaves; the incident resolves when it was the last, and keeps what it showed until then (decisions §7). */
  *leave(ref: MemberRef, leaving: Leaving): Decision<void> {
    const workspace = this.#workspace
    yield* ensure(workspace, { incidents: [ref.incident_id], members: [ref] })
    const { incident, member } = this.#find(ref)
    workspace.members.put({ ...member, left_at: this.#now })
    const counted = count(numbered(incident), member.severity, -1)
    if (memberCount(counted) > 0) {
      yield* this.#refresh({ ...counted, state: move(IncidentTransitions, "open", "member_left") }, undefined)
      this.#tell(counted, member, "left")
      return
    }
    const resolved: IncidentRecord = {
      ...counted,
      state: move(IncidentTransitions, "open", "last_member_left"),
      resolved_at: this.#now,
    }
    workspace.incidents.put(resolved)
    workspace.openIncidents.delete(resolved)
    this.#tell(counted, member, "left")
    endAlerts(workspace, resolved, this.#now)
    if (leaving.by === "agent_gone") settleAbandoned(workspace, resolved, this.#enqueue)
    else settleResolved(workspace, resolved, { ...this.#enqueue, notify: leaving.notify })
  }

  #open(ref: IncidentRef, change: MemberChange): IncidentRecord {
    const { agent_id, check_id, severity, summary } = change.member
    const incident: IncidentRecord = {
      ...ref,
      id: this.#options.newIncidentId(this.#now),
      state: move(IncidentTransitions, "absent", "member_joined"),
      severity,
      agent_id,
      check_id,
      opener_agent_id: agent_id,
      opener_check_id: check_id,
      opened_at: this.#now,
      resolved_at: undefined,
      summary,
      member_changes: 0,
      members_warning: 0,
      members_unknown: 0,
      members_critical: 0,
    }
    this.#workspace.incidents.put(incident)
    this.#workspace.openIncidents.put({ ...ref, id: incident.id })
    this.#workspace.rankings.set(incident.id, { limit: 0, floor: undefined, complete: true })
    return incident
  }

  /** Writes an incident with what follows from its members; `latest` is the one that changed just now, if any did. */
  *#refresh(incident: IncidentRecord, latest: MemberRecord | undefined): Decision<void> {
    const severity = worstSeverity(incident)
    const isSingle = memberCount(incident) === 1
    // The latest change has the highest number, so among the most severe members it comes first.
    const worst = latest?.severity === severity ? latest : yield* worstMember(this.#workspace, incident)
    this.#workspace.incidents.put({
      ...incident,
      severity,
      summary: worst.summary,
      agent_id: isSingle ? worst.agent_id : undefined,
      check_id: isSingle ? worst.check_id : undefined,
    })
    endAlerts(this.#workspace, { ...incident, severity }, this.#now)
  }

  #tell(incident: IncidentRecord, member: MemberRecord, change: IncidentChangeRecord["change"]): void {
    this.#workspace.tell({
      incident_id: incident.id,
      seq: incident.member_changes,
      changed_at: this.#now,
      change,
      agent_id: member.agent_id,
      check_id: member.check_id,
      severity: member.severity,
      incident_severity: memberCount(incident) > 0 ? worstSeverity(incident) : undefined,
    })
  }

  #fire(incidentId: IncidentId): void {
    const incident = this.#workspace.incidents.get(incidentId)
    if (incident !== undefined) enqueueFirings(this.#workspace, incident, this.#enqueue)
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

import { LAST_VERSION } from "@tocsin/core/heart/model/PolicyVersionRecord"
import type { RowSource } from "@tocsin/core/kernel/unitOfWork/RowSource"
import type { RowCache } from "../cache/RowCache.ts"

/** The rows that transactions read: the cached ones, and those of the tables. All users of a file share a machine. */
export const rowSource = (rows: RowCache): RowSource => {
  const { tables } = rows
  const {
    agents,
    alert,
    check_label,
    incident_member: members,
    incidents,
    keyed,
    outbox,
    policy_version,
    rota_override,
    silence,
  } = tables
  return {
    agent: (id) => rows.agent(id),
    blockedKey: tables.agent_key.findBlocked,
    check: (ref) => rows.check(ref),
    knownEvents: tables.history.known,
    incident: incidents.find,
    openIncident: incidents.findOpen,
    outboxOf: outbox.ofIncident,
    alertsOf: alert.ofIncident,
    row: (name, key) => keyed[name].find(key),
    group: (name, group) => keyed[name].ofGroup(group),
    pendingAgents: agents.countPending,
    worstMembers: members.worst,
    loudMembers: members.loud,
    labelsOf: check_label.labelsOf,
    dueOutbox: ({ limit, receivers }, now) => outbox.due(receivers, now, limit),
    expiredOutbox: ({ limit, receivers }, now) => outbox.expired(receivers, now, limit),
    heldOutbox: ({ limit, receivers }, now) => outbox.held(receivers, now, limit),
    unclaimedOutbox: outbox.unclaimed,
    claimableAlerts: alert.claimable,
    dueIncidents: ({ limit }, now) => incidents.due(now, limit),
    parents: (asked) => ({ incidents: incidents.parents(asked), agents: agents.parents(asked) }),
    openings: ({ incident, ...asked }) => incidents.openings(incident, asked),
    silencesInForce: ({ begunBy, endingAfter }, now) => ({
      silences: silence.inForce(begunBy ?? now, endingAfter),
      serviceHeartbeat: keyed.service_heartbeat.find("service"),
    }),
    unendedSilences: silence.unended,
    overridesEndingAfter: rota_override.endingAfter,
    unended: (table, now) => tables.unended[table](now),
    newestPolicy: () => policy_version.newest(0, LAST_VERSION, 1)[0],
    idlePendingAgents: ({ limit, seenBefore }) => agents.idlePending(seenBefore, limit),
  }
}

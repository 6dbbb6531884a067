import { SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import { inconsistencies } from "@tocsin/testing/inconsistencies"
import { Effect } from "effect"
import { RECEIVERS } from "./policies.ts"
import type { Stage } from "./Steps.ts"

/** The laws that hold once all faults have ended and nothing is under way (docs/rules.md). */
export const lawsOfEnd = Effect.fnUntraced(function* (stage: Stage) {
  const { servers } = stage
  const [server] = servers.running()
  if (server === undefined) return ["no server runs at the end"]
  const contradictions = yield* Effect.orDie(inconsistencies(server.process))
  return [
    ...contradictions,
    ...ofAgents(stage),
    ...ofIncidents(stage),
    ...ofNotifications(stage),
    ...ofAlerts(stage),
  ]
})

/** Each running agent has sent everything, and the service knows the true state of each check. */
const ofAgents = ({ agents, service }: Stage): ReadonlyArray<string> => {
  const { checks } = service.rows()
  return agents.flatMap((agent) => {
    if (!agent.isRunning) return []
    const wrong = agent.checks.flatMap(({ check_id, status }) => {
      const stored = checks.get(`${agent.id}/${check_id}`)?.status
      return stored === status ? [] : [`${agent.id}/${check_id} is ${status}, and stored as ${stored}`]
    })
    return agent.waiting > 3 ? [...wrong, `${agent.id} still has ${agent.waiting} results`] : wrong
  })
}

/** The open incidents follow from what is true. */
const ofIncidents = ({ agents, service }: Stage): ReadonlyArray<string> => {
  const rows = service.rows()
  const isDead = (id: string) => agents.some((agent) => agent.id === id && !agent.isRunning)
  const expected = [
    ...Array.from(rows.checks.values()).flatMap(({ agent_id, check_id, incident_key, status }) =>
      status === "ok"
        ? []
        : [incident_key === undefined ? `${agent_id}/${check_id}` : `named ${incident_key}`],
    ),
    ...Array.from(rows.agents.values()).flatMap(({ admission_state, agent_id }) =>
      admission_state === "accepted" && isDead(agent_id) ? [`${agent_id}/@heartbeat`] : [],
    ),
    ...Array.from(rows.checks.values()).flatMap(({ agent_id, overdue_incident_id }) =>
      overdue_incident_id !== undefined && isDead(agent_id) ? [`${agent_id}/@overdue`] : [],
    ),
  ]
  const open = Array.from(rows.incidents.values()).flatMap(({ incident_key, kind, state }) =>
    state === "open" ? [kind === "named" ? `named ${incident_key}` : String(incident_key)] : [],
  )
  const [is, should] = [open, Array.from(new Set(expected))].map((keys) => keys.toSorted().join(", "))
  return is === should ? [] : [`open incidents are ${is}, and should be ${should}`]
}

/** Each receiver was notified last of what is, and never of an end without a beginning. */
const ofNotifications = ({ agents, service }: Stage): ReadonlyArray<string> => {
  const { receivers, rows } = service
  const items = Array.from(rows().outbox.values())
  const broken: Array<string> = []
  for (const { incident_id, receiver, state, event_type } of items) {
    if (["pending", "retry", "sending"].includes(state))
      broken.push(`${receiver} ${event_type} of ${incident_id} ends ${state}`)
  }
  for (const { id, incident_key, severity, state } of rows().incidents.values()) {
    for (const receiver of RECEIVERS) {
      const isOf = (one: { readonly receiver: string }) => one.receiver === receiver
      const attempts = receivers.attempts.filter(
        ({ notification }) => notification.incident.id === id && isOf(notification),
      )
      const [first] = attempts
      const name = `${receiver} of ${incident_key}, ${state}`
      if (first?.notification.event_type === "resolved") broken.push(`${name}: a resolution without a firing`)
      const ofReceiver = items.filter((item) => item.incident_id === id && isOf(item))
      if (ofReceiver.some(mayBeUnknown)) continue
      const messages = receivers.arrivals
        .map(({ notification }) => notification)
        .filter((message) => message.incident.id === id && isOf(message))
      const last = messages.at(-1)
      const expected = state === "open" ? "firing" : "resolved"
      // A silent end has no row.
      const isSilent =
        state !== "open" &&
        agents.some(({ silentEnds }) => silentEnds.has(incident_key)) &&
        ofReceiver.every(({ event_type }) => event_type === "firing")
      if (last !== undefined && last.event_type !== expected && !isSilent)
        broken.push(`${name}: was notified last of a ${last.event_type}`)
      if (state !== "open" || receiver !== "chat") continue
      // A severity that was notified once is not notified again.
      if (!messages.some((message) => SEVERITY_RANK[message.severity] >= SEVERITY_RANK[severity]))
        broken.push(`${name} ${severity}: was not notified of this severity`)
    }
  }
  return broken
}

/** A service that keeps alerts has none of an incident that is over. */
const ofAlerts = ({ service, types }: Stage): ReadonlyArray<string> => {
  const { incidents, outbox } = service.rows()
  return Array.from(types).flatMap(([receiver, { alerts }]) =>
    Array.from(incidents.values()).flatMap(({ id, incident_key, state }) => {
      const items = Array.from(outbox.values()).filter(
        (item) => item.incident_id === id && item.receiver === receiver,
      )
      const isLeft = state !== "open" && alerts.has(id) && !items.some(mayBeUnknown)
      return isLeft ? [`${receiver} of ${incident_key}: its alert is open, and the incident is over`] : []
    }),
  )
}

/**
 * Whether a receiver need not know how this item's incident ended: it refused the item, or the agent
 * or check went before an attempt succeeded (docs/rules.md#discarded-rows).
 */
const mayBeUnknown = ({ age_starts_at, created_at, first_attempted_at, state }: OutboxRecord): boolean =>
  state === "failed" ||
  age_starts_at !== created_at ||
  (state === "discarded" && first_attempted_at !== undefined)

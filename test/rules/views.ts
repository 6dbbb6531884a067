import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { AgentId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { batchReply, type Observation } from "./Action.ts"
import type { FoldedEvents, LogEntry } from "./FoldedEvents.ts"
import { membersEver, type Rows } from "../service/Rows.ts"

/** No item is attempted more often, or when it is older. */
const MOST_ATTEMPTS = 14
const OLDEST_MICROS = 86_400_000_000n

/**
 * Names of the incidents and outbox items in `rows` that do not depend on their ids; those of
 * `FoldedEvents`.
 */
const namesIn = (rows: Rows) => {
  const timesUsed = new Map<string, number>()
  const numbered = (name: string): string => {
    const number = timesUsed.get(name) ?? 0
    timesUsed.set(name, number + 1)
    return `${name}#${number}`
  }
  const incidents = new Map<IncidentId, string>()
  for (const { id, kind, incident_key } of rows.incidents.values())
    incidents.set(id, numbered(`${kind}/${incident_key}`))
  const items = new Map<string, string>()
  for (const { id, incident_id, notifier, event_type, severity } of rows.outbox.values()) {
    items.set(id, numbered(`${incidents.get(incident_id)}/${notifier}/${event_type}/${severity}`))
  }
  return { incidents, items }
}

/** The agents that were accepted, and last seen, a dead threshold ago. */
const deadAgents = (
  { before, now, rules }: Observation,
  acceptedAt: ReadonlyMap<AgentId, Instant.Instant>,
): ReadonlyArray<AgentRecord> => {
  const since = Instant.minus(now, rules.deadAfter)
  return Array.from(before.agents.values()).filter(
    ({ admission_state, agent_id, last_seen_at }) =>
      admission_state === "accepted" && last_seen_at <= since && (acceptedAt.get(agent_id) ?? since) <= since,
  )
}

/** Notes when agents were accepted. */
const noteAccepted = (
  acceptedAt: Map<AgentId, Instant.Instant>,
  { after, before, now }: Observation,
): void => {
  for (const { admission_state, agent_id } of after.agents.values())
    if (admission_state === "accepted" && before.agents.get(agent_id)?.admission_state !== "accepted")
      acceptedAt.set(agent_id, now)
}

/** The log of events that concern checks, incidents and the outbox. */
export const logOf = (observations: ReadonlyArray<Observation>): ReadonlyArray<LogEntry> => {
  const acceptedAt = new Map<AgentId, Instant.Instant>()
  return observations.flatMap((observed): ReadonlyArray<LogEntry> => {
    noteAccepted(acceptedAt, observed)
    const { action, reply, rules, now, before, after } = observed
    const { notifiers } = rules
    switch (action.action) {
      case "events": {
        if (batchReply(reply) === undefined) return []
        const { agent_id, events } = action.request
        return [
          { entry: "contact", agent_id, now },
          { entry: "batch", agent_id, events, now, notifiers },
        ]
      }
      case "heartbeat": {
        const isAccepted = typeof reply === "object" && "accepted" in reply && reply.accepted === true
        return isAccepted ? [{ entry: "contact", agent_id: action.request.agent_id, now }] : []
      }
      case "sweep":
        return deadAgents(observed, acceptedAt).map(({ agent_id }) => ({
          entry: "dead",
          agent_id,
          now,
          notifiers,
        }))
      case "reset_clock":
        return [{ entry: "reset", agent_id: action.check.agent_id, check_id: action.check.check_id }]
      case "deliver": {
        const item = namesIn(before).items.get(action.item.id) ?? "an item that is not there"
        const { attempts, age_starts_at } = action.item
        const isOver = attempts >= MOST_ATTEMPTS || now - age_starts_at >= OLDEST_MICROS
        return [{ entry: "delivery", item, trigger: action.trigger, isOver }]
      }
      default: {
        const gone = Array.from(before.agents.keys()).filter((agentId) => !after.agents.has(agentId))
        return gone.map((agent_id) => ({ entry: "agent_gone", agent_id, now }))
      }
    }
  })
}

const inOrder = <A>(rows: Iterable<A>, nameOf: (row: A) => string): ReadonlyArray<A> =>
  Array.from(rows).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))

/** The compared view: without ids that are drawn, and in an order that no storage chooses. */
interface View {
  readonly history: ReadonlyArray<object>
  readonly checks: ReadonlyArray<object>
  readonly incidents: ReadonlyArray<object>
  readonly outbox: ReadonlyArray<object>
}

/** The view of the rows. */
export const viewOfRows = (rows: Rows): View => {
  const names = namesIn(rows)
  const nameOf = (id: IncidentId | undefined) => (id === undefined ? undefined : names.incidents.get(id))
  return {
    history: rows.history.map(({ registration_id: _, ...row }) => row),
    checks: inOrder(rows.checks.values(), (check) => `${check.agent_id}/${check.check_id}`).map(
      ({ registration_id: _, incident_id, seen_event_ids, ...check }) => ({
        ...check,
        incident: nameOf(incident_id),
        seen: seen_event_ids.toSorted(),
      }),
    ),
    incidents: inOrder(rows.incidents.values(), ({ id }) => nameOf(id) ?? "").map((incident) => ({
      name: nameOf(incident.id),
      state: incident.state,
      severity: incident.severity,
      agent_id: incident.agent_id,
      check_id: incident.check_id,
      // The summary of a heartbeat incident is only text.
      summary: incident.incident_key.endsWith("/@heartbeat") ? undefined : incident.summary,
      opened_at: incident.opened_at,
      resolved_at: incident.resolved_at,
      warning: incident.members_warning,
      unknown: incident.members_unknown,
      critical: incident.members_critical,
      members: membersEver(rows, incident.id)
        .map(
          (member) =>
            `${member.agent_id}/${member.check_id} ${member.left_at === undefined ? member.severity : "left"}`,
        )
        .toSorted(),
    })),
    outbox: inOrder(rows.outbox.values(), ({ id }) => names.items.get(id) ?? "").map(
      ({ id, state, attempts }) => ({
        name: names.items.get(id),
        state,
        attempts,
      }),
    ),
  }
}

/** The view of the fold, in the same form. */
export const viewOfFold = (fold: FoldedEvents): View => ({
  history: fold.results.flatMap(({ stored, counted_at: _, ...row }) => (stored ? [row] : [])),
  checks: inOrder(
    new Map(fold.results.map((result) => [`${result.agent_id}/${result.check_id}`, result])).values(),
    (check) => `${check.agent_id}/${check.check_id}`,
  ).map(({ agent_id, check_id, status, exit_code, counted_at, received_at, output }) => ({
    agent_id,
    check_id,
    status,
    exit_code,
    last_observed_at: counted_at,
    received_at,
    incident_key: fold.keyOf(agent_id, check_id),
    summary: output,
    incident: fold.incidentOf(agent_id, check_id)?.name,
    overdue_incident_id: undefined,
    withdrawn_at: undefined,
    is_of_place: undefined,
    declaration: undefined,
    seen: fold
      .latestOf(agent_id, check_id)
      .map((result) => result.event_id)
      .toSorted(),
  })),
  incidents: inOrder(fold.incidents, ({ name }) => name).map((incident) => {
    const present = fold.presentIn(incident)
    const count = (severity: string) => present.filter((stay) => stay.severity === severity).length
    const { name, severity, agent_id, check_id, summary, opened_at, resolved_at } = incident
    return {
      name,
      state: resolved_at === undefined ? "open" : "resolved",
      severity,
      agent_id,
      check_id,
      summary,
      opened_at,
      resolved_at,
      warning: count("warning"),
      unknown: count("unknown"),
      critical: count("critical"),
      members: Array.from(
        // Of several stays of one check the last one counts.
        new Map(incident.stays.map((stay) => [`${stay.agent_id}/${stay.check_id}`, stay])),
        ([member, stay]) => `${member} ${stay.left ? "left" : stay.severity}`,
      ).toSorted(),
    }
  }),
  outbox: inOrder(fold.outbox, ({ name }) => name).map(({ name, state, attempts }) => ({
    name,
    state,
    attempts,
  })),
})

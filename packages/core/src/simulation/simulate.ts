import { defaultRules } from "../ports/RuleSettings.ts"
import { toIncident } from "../usecases/toResources.ts"
import { readLines, type SimulationEntry } from "./readLines.ts"
import { type EndedIncident, type SentNotification, SimulatedService } from "./SimulatedService.ts"
import type {
  SimulatedIncident,
  SimulatedNotification,
  SimulationPorts,
  SimulationReport,
  SimulationSettings,
} from "./SimulationReport.ts"

/**
 * Finds the incidents and notifications that recorded input would have caused: heartbeats and
 * batches, or the history of a service (`readLine` lists the forms). Pure and synchronous: it runs
 * the service's own decisions.
 *
 * Every agent counts as accepted, and falls silent only after a known heartbeat: the history
 * contains changes, not every contact. Notifications count as delivered immediately; alerts are not
 * resent.
 */
export const simulate = (
  lines: Iterable<unknown>,
  settings: SimulationSettings,
  ports: SimulationPorts,
): SimulationReport => {
  const { entries, refused } = readLines(lines)
  const [first] = entries
  const last = entries.at(-1)
  if (first === undefined || last === undefined) return { ...NOTHING, refused }
  const { until = last.received_at, ...rules } = settings
  const service = new SimulatedService({ ...defaultRules, ...rules }, ports, first.received_at)
  const taken = entries.filter((entry) => entry.received_at <= until)
  for (const entry of taken) take(service, entry)
  service.passUntil(until)
  service.end()
  return {
    from: first.received_at,
    until,
    agents: service.agents,
    heartbeats: taken.filter(({ entry }) => entry === "heartbeat").length,
    results: taken.reduce((sum, entry) => sum + (entry.entry === "results" ? entry.events.length : 0), 0),
    changes: service.changes,
    incidents: service.incidents.map(shown).toSorted(byId),
    notifications: service.notifications.map(sent),
    refused,
  }
}

const NOTHING: Omit<SimulationReport, "refused"> = {
  from: null,
  until: null,
  agents: 0,
  heartbeats: 0,
  results: 0,
  changes: 0,
  incidents: [],
  notifications: [],
}

const take = (service: SimulatedService, entry: SimulationEntry): void => {
  service.passUntil(entry.received_at)
  if (entry.entry === "heartbeat") service.heartbeat(entry.request, entry.received_at)
  else service.results(entry)
}

// IDs begin with the time and a counter.
const byId = (a: SimulatedIncident, b: SimulatedIncident): number => (a.id < b.id ? -1 : 1)

const shown = ({ incident, changes }: EndedIncident): SimulatedIncident => ({
  ...toIncident(incident),
  timeline: changes.map(({ changed_at, change, agent_id, check_id, severity, incident_severity }) => ({
    at: changed_at,
    change,
    agent_id,
    check_id,
    severity,
    incident_severity: incident_severity ?? null,
  })),
})

const sent = ({ at, notification }: SentNotification): SimulatedNotification => ({
  at,
  notifier: notification.notifier,
  event_type: notification.event_type,
  cause: notification.cause ?? null,
  severity: notification.severity,
  summary: notification.summary ?? null,
  incident_id: notification.incident.id,
  incident_key: notification.incident.incident_key,
  agent_id: notification.incident.agent_id ?? null,
  check_id: notification.incident.check_id ?? null,
  members: notification.incident.members,
})

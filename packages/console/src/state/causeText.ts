import type { IncidentDetail } from "@tocsin/client"
import { countText } from "../format/times.ts"

/** The service lists no more. */
const MOST_MEMBERS = 200

type Incident = Pick<IncidentDetail["incident"], "incident_key" | "resolution" | "state">

const presentText = (members: IncidentDetail["members"], state: string): string => {
  const count = members.filter(({ left_at }) => left_at === null).length
  const some =
    members.length >= MOST_MEMBERS
      ? `${count} or more checks are`
      : `${countText(count, "check")} ${count === 1 ? "is" : "are"}`
  return `Open because ${some} ${state}.`
}

/** Why an incident about a whole agent is open, by the end of its key: else it is silent. */
const OF_AGENTS: ReadonlyMap<string, string> = new Map([
  ["@twice", "two hosts use the key of AGENT"],
  ["@place", "most watches of AGENT failed together, as when this server has no network"],
])

/** Why an incident is open, or how it resolved, in a sentence. */
export const causeText = (incident: Incident, members: IncidentDetail["members"]): string => {
  const { incident_key, resolution, state } = incident
  // An incident that an earlier version resolved does not say how.
  if (state !== "open") return resolution ? `Resolved: ${resolution.text}.` : "Resolved."
  const silent = members.find(({ check_id }) => check_id.startsWith("@"))
  const agent = silent?.title ?? silent?.agent_id
  // No key of an event ends so.
  if (agent === undefined) return presentText(members, incident_key.endsWith("/@overdue") ? "late" : "not ok")
  const why = OF_AGENTS.get(incident_key.slice(incident_key.lastIndexOf("/") + 1)) ?? "AGENT is silent"
  return `Open because ${why.replace("AGENT", () => agent)}.`
}

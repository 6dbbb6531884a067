import type { Incident, IncidentDetail } from "@tocsin/client"
import { countText } from "../format/times.ts"

/** The service lists no more. */
const MOST_MEMBERS = 200

/** Whether its checks are late: no key of an event ends so. */
const isOfLate = ({ incident_key }: Incident): boolean => incident_key.endsWith("/@overdue")

const presentText = (members: IncidentDetail["members"], state: string): string => {
  const count = members.filter(({ left_at }) => left_at === null).length
  const some =
    members.length >= MOST_MEMBERS
      ? `${count} or more checks are`
      : `${countText(count, "check")} ${count === 1 ? "is" : "are"}`
  return `Open because ${some} ${state}.`
}

const SILENT = [
  "Open because AGENT is silent.",
  "Resolved because AGENT made contact again, or was deleted or blocked.",
] as const

/** Why an incident about a whole agent is open, and how it resolved, by the end of its key: else it is silent. */
const OF_AGENTS: ReadonlyMap<string, readonly [open: string, resolved: string]> = new Map([
  [
    "@twice",
    [
      "Open because two hosts use the key of AGENT.",
      "Resolved because one host alone has used it for ten minutes, or AGENT is gone.",
    ],
  ],
  [
    "@place",
    [
      "Open because most watches of AGENT failed together, as when this server has no network.",
      "Resolved because most watches of AGENT are well again.",
    ],
  ],
])

/** Why an incident is open, or how it resolved, in a sentence. */
export const causeText = (incident: Incident, members: IncidentDetail["members"]): string => {
  const { incident_key, state } = incident
  const isOpen = state === "open"
  const shown = isOfLate(incident) ? "late" : "not ok"
  const silent = members.find(({ check_id }) => check_id.startsWith("@"))
  const agent = silent?.title ?? silent?.agent_id
  if (agent === undefined)
    return isOpen ? presentText(members, shown) : `Resolved because no check was left that was ${shown}.`
  const [open, resolved] = OF_AGENTS.get(incident_key.slice(incident_key.lastIndexOf("/") + 1)) ?? SILENT
  return (isOpen ? open : resolved).replace("AGENT", () => agent)
}

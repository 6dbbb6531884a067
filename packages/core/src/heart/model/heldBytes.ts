import type { AgentRecord } from "./AgentRecord.ts"
import type { CheckRecord } from "./CheckRecord.ts"

/** A row with its fields and its place in maps, without the texts that can be long. */
const ROW = 600

/** A text with its header and the field that holds it. A character may take two bytes. */
const textBytes = (text: string | undefined): number => (text === undefined ? 0 : 40 + 2 * text.length)

/** A former process of an agent, with its ID. */
const FORMER = 150

/** About how many bytes of memory an agent takes, rather more than less: caches are bounded by them. */
const bytesOfAgent = ({ agent_id, former_processes = [], hostname, labels = {} }: AgentRecord): number => {
  let bytes = ROW + textBytes(agent_id) + textBytes(hostname)
  for (const former of former_processes) bytes += FORMER + textBytes(former.hostname)
  for (const [name, value] of Object.entries(labels)) bytes += textBytes(name) + textBytes(value)
  return bytes
}

/** How many bytes more an agent takes than before. Its labels and former processes, which hardly ever change, are looked at only then. */
export const bytesAdded = (before: AgentRecord | undefined, agent: AgentRecord): number => {
  if (before === undefined) return bytesOfAgent(agent)
  const isSame = before.labels === agent.labels && before.hostname === agent.hostname
  if (isSame && before.former_processes === agent.former_processes) return 0
  return bytesOfAgent(agent) - bytesOfAgent(before)
}

/** The ID of an event in a row. */
const EVENT_ID = 112

/** The same of a check, and of its place among those of its agent. */
export const bytesOfCheck = ({ check_id, incident_key, seen_event_ids, summary }: CheckRecord): number =>
  ROW + textBytes(check_id) + textBytes(incident_key) + textBytes(summary) + EVENT_ID * seen_event_ids.length

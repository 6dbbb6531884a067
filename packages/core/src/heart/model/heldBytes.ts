import type { AgentRecord } from "./AgentRecord.ts"
import type { CheckRecord } from "./CheckRecord.ts"

/** A row with its fields and its place in maps, without the texts that can be long. */
const ROW = 600

/** A text with its header and the field that holds it. A character may take two bytes. */
const textBytes = (text: string | undefined): number => (text === undefined ? 0 : 40 + 2 * text.length)

/** A former process of an agent, with its ID. */
const FORMER = 150

/** About how many bytes of memory an agent takes, rather more than less: caches are bounded by them. */
const bytesOfAgent = (agent: AgentRecord): number => {
  const { agent_id, declared_title, former_processes = [], given_title, hostname, labels = {}, title } = agent
  let bytes = ROW
  for (const text of [agent_id, hostname, title, given_title, declared_title, agent.process])
    bytes += textBytes(text)
  for (const former of former_processes) bytes += FORMER + textBytes(former.hostname)
  for (const [name, value] of Object.entries(labels)) bytes += textBytes(name) + textBytes(value)
  return bytes
}

const hasSameTexts = (before: AgentRecord, agent: AgentRecord): boolean =>
  before.hostname === agent.hostname &&
  before.process === agent.process &&
  before.title === agent.title &&
  before.given_title === agent.given_title &&
  before.declared_title === agent.declared_title

/** How many bytes more an agent takes than before. Its texts, which hardly ever change, are looked at only then. */
export const bytesAdded = (before: AgentRecord | undefined, agent: AgentRecord): number => {
  if (before === undefined) return bytesOfAgent(agent)
  const isSame = before.labels === agent.labels && hasSameTexts(before, agent)
  if (isSame && before.former_processes === agent.former_processes) return 0
  return bytesOfAgent(agent) - bytesOfAgent(before)
}

/** The ID of an event in a row. */
const EVENT_ID = 112

/** The same of a check, and of its place among those of its agent. */
export const bytesOfCheck = (check: CheckRecord): number => {
  const { check_id, declaration, incident_key, seen_event_ids, summary } = check
  const texts = textBytes(check_id) + textBytes(declaration) + textBytes(incident_key) + textBytes(summary)
  return ROW + texts + EVENT_ID * seen_event_ids.length
}

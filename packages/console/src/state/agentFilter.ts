/** What agents are searched by. */
interface Searched {
  readonly agent_id: string
  readonly hostname: string
  readonly labels?: Readonly<Record<string, string>> | undefined
}

/** The words of a search, each of which must be found. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")

const hasWords =
  (words: ReadonlyArray<string>) =>
  (texts: ReadonlyArray<string>): boolean =>
    words.every((word) => texts.some((text) => text.toLowerCase().includes(word)))

/** Whether an agent has each word in its ID, its host or a label, written `key=value`. */
export const agentMatches = (text: string): ((agent: Searched) => boolean) => {
  const has = hasWords(wordsOf(text))
  return ({ agent_id, hostname, labels }) =>
    has([agent_id, hostname, ...Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`)])
}

/** Whether an incident has each word in its summary, its key, its agent or its check. */
export const incidentMatches = (
  text: string,
): ((incident: {
  readonly incident_key: string
  readonly summary?: string | undefined
  readonly agent_id?: string | undefined
  readonly check_id?: string | undefined
}) => boolean) => {
  const has = hasWords(wordsOf(text))
  return ({ incident_key, summary = "", agent_id = "", check_id = "" }) =>
    has([incident_key, summary, `${agent_id}/${check_id}`])
}

/** Whether a check has each word in its agent, its name or its output. */
export const checkMatches = (
  text: string,
): ((check: {
  readonly agent_id: string
  readonly check_id: string
  readonly summary?: string | undefined
}) => boolean) => {
  const has = hasWords(wordsOf(text))
  return ({ agent_id, check_id, summary = "" }) => has([`${agent_id}/${check_id}`, summary])
}

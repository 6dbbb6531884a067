/** The subjects of matchers, besides the labels of agents. */
export const FIELDS = ["agent_id", "check_id", "incident_key", "hostname", "severity"] as const
export const LABEL_FIELD = /^label:[A-Za-z0-9._:-]{1,64}$/u
export const FIELD_NAMES = "agent_id, check_id, incident_key, hostname, severity or label:KEY"

export const OPERATORS = ["=", "!=", "glob"] as const

/** A matcher whose value was not checked. */
interface WrittenMatcher {
  readonly field: (typeof FIELDS)[number] | `label:${string}`
  readonly op: (typeof OPERATORS)[number]
  readonly value: string
}

/** Whether a matcher limits the agents, and not only their incidents. */
export const limitsAgents = ({ field }: Pick<WrittenMatcher, "field">): boolean =>
  field === "agent_id" || field === "hostname" || field.startsWith("label:")

const isField = (text: string): text is WrittenMatcher["field"] =>
  FIELDS.some((name) => name === text) || LABEL_FIELD.test(text)

/** The longest field, operator and value, with room for spaces. */
const MAX_TEXT = 512
// Operators of other programs, such as `==` and `=~`, would else read as a part of the value.
const TEXT = /^(?<field>[^\s=!]+)\s*(?<op>!?=(?![=~])|\bglob\b)\s*(?<value>.*)$/su

/** Reads a matcher as people write it, `label:team = db`, `check_id glob disk*`; else what it must be. */
export const readMatcher = (text: string): WrittenMatcher | string => {
  if (text.length > MAX_TEXT) return `must be at most ${MAX_TEXT} characters long`
  const { field, op: written, value } = TEXT.exec(text.trim())?.groups ?? {}
  const op = OPERATORS.find((each) => each === written)
  if (field === undefined || op === undefined || value === undefined)
    return 'must be a field, an operator (=, != or glob) and a value, such as "label:team = db"'
  return isField(field) ? { field, op, value } : `must begin with ${FIELD_NAMES}`
}

/** Writes a matcher as {@link readMatcher} reads it. */
export const formatMatcher = ({ field, op, value }: WrittenMatcher): string => `${field} ${op} ${value}`

/** A condition of a silence. */
export interface Matcher {
  readonly field: string
  readonly op: "=" | "!=" | "glob"
  readonly value: string
}

// Operators of other programs, such as `==` and `=~`, would else read as a part of the value.
const LINE = /^(label:[^\s=]+|[a-z_]+)\s*(!?=(?![=~])|\sglob\s)\s*(.*)$/s

const FIELDS = ["agent_id", "check_id", "incident_key", "hostname", "severity"]

/** Whether a matcher limits the agents, and not only their incidents. */
export const limitsAgents = ({ field }: Matcher): boolean =>
  field === "agent_id" || field === "hostname" || field.startsWith("label:")

/**
 * Reads matchers as a policy writes them, one a line: `agent_id glob web-*`. A text that was filled in
 * and not edited is read as what was given: a line cannot state outer spaces of a value.
 */
export const parseMatchers = (
  text: string,
  given: ReadonlyArray<Matcher> = [],
): { readonly matchers: ReadonlyArray<Matcher>; readonly fault: string | undefined } => {
  if (text === matchersText(given)) return { matchers: given, fault: undefined }
  const matchers: Array<Matcher> = []
  for (const [index, line] of text
    .split("\n")
    .map((each) => each.trim())
    .entries()) {
    if (line === "") continue
    const [, field, op, value] = LINE.exec(line) ?? []
    const known = op?.trim()
    if (field === undefined || value === undefined || (known !== "=" && known !== "!=" && known !== "glob"))
      return {
        matchers: [],
        fault: `Line ${index + 1}: “${line}” is not FIELD = VALUE, FIELD != VALUE or FIELD glob PATTERN.`,
      }
    if (!FIELDS.includes(field) && !field.startsWith("label:"))
      return {
        matchers: [],
        fault: `Line ${index + 1}: “${field}” is not a field. The fields are ${FIELDS.join(", ")} and label:KEY.`,
      }
    matchers.push({ field, op: known, value: value.trim() })
  }
  return { matchers, fault: undefined }
}

/** Writes matchers as {@link parseMatchers} reads them. */
export const matchersText = (matchers: ReadonlyArray<Matcher>): string =>
  matchers.map(({ field, op, value }) => `${field} ${op} ${value}`).join("\n")

import type { ParameterText } from "./Documentation.ts"

const agentId = "Names an agent; chosen by its operator."
const checkId = "Names one check of an agent."

/** Parameters that mean the same wherever they are in a path. */
export const pathParameters: Readonly<Record<string, ParameterText>> = {
  agent_id: { description: agentId, example: "web-01" },
  check_id: { description: checkId, example: "disk" },
}

/** Parameters that mean the same in every list (docs/rules.md#lists). */
export const queryParameters: Readonly<Record<string, ParameterText>> = {
  agent_id: { description: "Only what belongs to this agent." },
  check_id: { description: "Only what belongs to checks of this name." },
  cursor: {
    description: "The next_cursor of a page, or its prev_cursor with back=true. The first page without.",
  },
  back: { description: "Whether cursor is a prev_cursor, so that the page before is returned." },
  limit: { description: "How many items a page holds at most. It may change from page to page." },
  sort: { description: "What the items are ordered by; ids break ties." },
  direction: { description: "Ascending or descending; one is the exact reverse of the other." },
}

import type { AgentId } from "@tocsin/contract/Identifiers"

/** Rows by their agents, each agent in the place of its first. */
export const byAgent = <Row extends { readonly agent_id: AgentId }>(
  rows: ReadonlyArray<Row>,
): ReadonlyMap<AgentId, ReadonlyArray<Row>> => {
  const groups = new Map<AgentId, Array<Row>>()
  for (const row of rows) {
    const group = groups.get(row.agent_id)
    if (group === undefined) groups.set(row.agent_id, [row])
    else group.push(row)
  }
  return groups
}

/** The check that opened an incident, or a part of it, in front of an index. */
const OPENERS = {
  agent: "opener_agent_id",
  check: "opener_check_id",
  both: "opener_agent_id, opener_check_id",
}

const ORDERS = { opened_at: "opened_at", resolved_at: "resolved_order" }

const indexes = Object.entries(OPENERS).flatMap(([of, columns]) =>
  Object.entries(ORDERS).map(([order, column]) => {
    const name = `incident_of_${of}_by_${order}`
    return `DROP INDEX ${name};
CREATE INDEX ${name} ON incident (${columns}, phase, severity_rank, ${column}, id) WHERE phase = 0;`
  }),
)

/**
 * The lists of what an agent or a check opened have resolved incidents in their indexes. An open one would move there
 * within minutes or days, and be written three times. Those that are open now have one index by agent and one by check.
 */
export const RESOLVED_INDEXES = `
${indexes.join("\n")}
CREATE INDEX incident_open_of_agent ON incident (opener_agent_id, phase, severity_rank, opened_at, id) WHERE phase > 0;
CREATE INDEX incident_open_of_check ON incident (opener_check_id, phase, severity_rank, opened_at, id) WHERE phase > 0;
`

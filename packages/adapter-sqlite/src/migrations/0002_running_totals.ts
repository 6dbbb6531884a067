import type { Migration } from "@tocsin/core/ports/Migration"

const COUNTED = ["checks_ok", "checks_warning", "checks_critical", "checks_unknown"]

/** 1 for an agent that counts as such, otherwise 0; `row` is NEW or OLD. */
const isAccepted = (row: string): string => `(${row}.admission_state = 'accepted')`
const isDead = (row: string): string =>
  `(${row}.admission_state = 'accepted' AND ${row}.heartbeat_incident_id IS NOT NULL)`

/** Adds an agent to the totals, or removes it. */
const count = (row: "NEW" | "OLD", sign: "+" | "-"): ReadonlyArray<string> => [
  `agents_accepted = agents_accepted ${sign} ${isAccepted(row)}`,
  `agents_dead = agents_dead ${sign} ${isDead(row)}`,
  ...COUNTED.map((column) => `${column} = ${column} ${sign} ${row}.${column}`),
]

const COMPARED = [...COUNTED, "admission_state", "heartbeat_incident_id"]

/**
 * Running totals, so that the summary need not read all agents. Triggers keep those of agents for
 * every writer, including a process of the previous release that has the file open. The adapter
 * counts open incidents itself: a trigger would add a journal to each statement on incidents.
 */
export const migration: Migration = {
  id: 2,
  name: "running_totals",
  compatibility: "breaking",
  sql: `
CREATE TABLE system_total (
  writer INTEGER PRIMARY KEY,
  agents_accepted INTEGER NOT NULL,
  agents_dead INTEGER NOT NULL,
  acceptances INTEGER NOT NULL,
  checks_ok INTEGER NOT NULL,
  checks_warning INTEGER NOT NULL,
  checks_critical INTEGER NOT NULL,
  checks_unknown INTEGER NOT NULL,
  incidents_open INTEGER NOT NULL
) STRICT;

CREATE TRIGGER agent_comes AFTER INSERT ON agent BEGIN
  UPDATE system_total SET acceptances = acceptances + ${isAccepted("NEW")},
    ${count("NEW", "+").join(",\n    ")};
END;

CREATE TRIGGER agent_goes AFTER DELETE ON agent BEGIN
  UPDATE system_total SET
    ${count("OLD", "-").join(",\n    ")};
END;

CREATE TRIGGER agent_counts_otherwise AFTER UPDATE OF ${COMPARED.join(", ")} ON agent
WHEN ${COMPARED.map((column) => `OLD.${column} IS NOT NEW.${column}`).join(" OR ")}
BEGIN
  UPDATE system_total SET acceptances = acceptances + (${isAccepted("NEW")} > ${isAccepted("OLD")}),
    agents_accepted = agents_accepted + ${isAccepted("NEW")} - ${isAccepted("OLD")},
    agents_dead = agents_dead + ${isDead("NEW")} - ${isDead("OLD")},
    ${COUNTED.map((column) => `${column} = ${column} + NEW.${column} - OLD.${column}`).join(",\n    ")};
END;

INSERT INTO system_total
SELECT 0, count(*) FILTER (WHERE admission_state = 'accepted'),
  count(*) FILTER (WHERE admission_state = 'accepted' AND heartbeat_incident_id IS NOT NULL), 0,
  coalesce(sum(checks_ok), 0), coalesce(sum(checks_warning), 0),
  coalesce(sum(checks_critical), 0), coalesce(sum(checks_unknown), 0),
  (SELECT count(*) FROM incident WHERE state = 'open')
FROM agent;
`,
}

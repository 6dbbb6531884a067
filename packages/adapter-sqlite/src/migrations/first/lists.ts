/** Whether an incident changed its members too often to be moved with each of them. */
const isBusy = (row: string): string => `(${row}.member_changes > 100)`

const phaseOf = (row: string): string =>
  `CASE WHEN ${row}.state = 'resolved' THEN 0 WHEN ${row}.ack_until IS NULL THEN 1 ELSE 2 END`

const COLUMNS = "(id, agent_id, check_id, phase, severity_rank, opened_at, resolved_order)"

/** Adds a row of a member, unless it is there; that of a busy incident has phase 3 for good. */
const listMember = (agentId: string, checkId: string): string =>
  `INSERT INTO listed_incident ${COLUMNS}
    SELECT i.id, ${agentId}, ${checkId}, CASE WHEN ${isBusy("i")} THEN 3 ELSE ${phaseOf("i")} END,
      CASE WHEN ${isBusy("i")} THEN 0 ELSE i.severity_rank END, i.opened_at, i.resolved_order
    FROM incident AS i WHERE i.id = NEW.incident_id
    ON CONFLICT DO NOTHING;`

const amongMembers = (row: string): ReadonlyArray<readonly [agentId: string, checkId: string]> => [
  [`${row}.agent_id`, `${row}.check_id`],
  [`${row}.agent_id`, "''"],
  ["''", `${row}.check_id`],
]

const PLACE = "opened_at, resolved_at, state, severity, ack_until"

const HAS_MOVED = `${phaseOf("OLD")} <> ${phaseOf("NEW")} OR (OLD.severity_rank, OLD.opened_at, OLD.resolved_order)
  <> (NEW.severity_rank, NEW.opened_at, NEW.resolved_order)`

/**
 * Every filter and order of incidents has an index that begins with the filter, so that a page reads its
 * own rows only.
 *
 * `listed_incident` has a row for each incident, and others for its members: by agent, by check, and
 * by both; the empty text stands for all. Phases: 0 resolved, 1 open, 2 acknowledged. A change moves
 * few rows: those of an incident with more than 100 changes get phase 3 instead, and stay there.
 */
export const LISTS = `
CREATE TABLE listed_incident (
  id TEXT NOT NULL REFERENCES incident ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  phase INTEGER NOT NULL,
  severity_rank INTEGER NOT NULL,
  opened_at INTEGER NOT NULL,
  resolved_order INTEGER NOT NULL,
  state_rank INTEGER NOT NULL AS (phase <> 0) VIRTUAL,
  PRIMARY KEY (id, agent_id, check_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX listed_incident_by_opened_at ON listed_incident (agent_id, check_id, phase, severity_rank, opened_at, id);
CREATE INDEX listed_incident_by_resolved_at ON listed_incident (agent_id, check_id, phase, severity_rank, resolved_order, id);

CREATE TRIGGER incident_is_listed AFTER INSERT ON incident BEGIN
  INSERT INTO listed_incident ${COLUMNS}
  VALUES (NEW.id, '', '', ${phaseOf("NEW")}, NEW.severity_rank, NEW.opened_at, NEW.resolved_order);
END;

CREATE TRIGGER incident_moves AFTER UPDATE OF ${PLACE} ON incident WHEN ${HAS_MOVED} BEGIN
  UPDATE listed_incident
  SET phase = ${phaseOf("NEW")}, severity_rank = NEW.severity_rank,
    opened_at = NEW.opened_at, resolved_order = NEW.resolved_order
  WHERE id = NEW.id AND agent_id = '' AND check_id = '';
END;

CREATE TRIGGER members_move AFTER UPDATE OF ${PLACE}, member_changes ON incident
WHEN NOT ${isBusy("OLD")} AND (${HAS_MOVED} OR ${isBusy("NEW")})
BEGIN
  UPDATE listed_incident
  SET phase = CASE WHEN ${isBusy("NEW")} THEN 3 ELSE ${phaseOf("NEW")} END,
    severity_rank = CASE WHEN ${isBusy("NEW")} THEN 0 ELSE NEW.severity_rank END,
    opened_at = NEW.opened_at, resolved_order = NEW.resolved_order
  WHERE id = NEW.id AND agent_id || check_id <> '';
END;

CREATE TRIGGER member_is_listed AFTER INSERT ON incident_member BEGIN
  ${amongMembers("NEW")
    .map(([agentId, checkId]) => listMember(agentId, checkId))
    .join("\n  ")}
END;

CREATE TRIGGER member_leaves AFTER DELETE ON incident_member BEGIN
  ${amongMembers("OLD")
    .map(
      ([agentId, checkId]) =>
        `DELETE FROM listed_incident WHERE id = OLD.incident_id AND agent_id = ${agentId} AND check_id = ${checkId};`,
    )
    .join("\n  ")}
END;
`

/** Whether an incident changed its members too often to be moved with each of them. */
const isBusy = (row: string): string => `(${row}.member_changes > 100)`

const COLUMNS = "(id, agent_id, check_id, phase, severity_rank, opened_at, resolved_order)"

/** Adds rows of a member, each unless it is there; those of a busy incident have phase 3 for good. */
const LIST_MEMBER = `INSERT INTO listed_member ${COLUMNS}
    SELECT i.id, subject.agent_id, subject.check_id, CASE WHEN ${isBusy("i")} THEN 3 ELSE i.phase END,
      CASE WHEN ${isBusy("i")} THEN 0 ELSE i.severity_rank END, i.opened_at, i.resolved_order
    FROM incident AS i CROSS JOIN (
      SELECT NEW.agent_id AS agent_id, NEW.check_id AS check_id
      UNION ALL SELECT NEW.agent_id, '' UNION ALL SELECT '', NEW.check_id
    ) AS subject
    WHERE i.id = NEW.incident_id
      AND NOT (subject.agent_id IN ('', i.opener_agent_id) AND subject.check_id IN ('', i.opener_check_id))
    ON CONFLICT DO NOTHING;`

/** Whether another check than that of a member opened its incident. */
const JOINED_LATER = `EXISTS (SELECT 1 FROM incident WHERE id = NEW.incident_id
    AND (opener_agent_id, opener_check_id) <> (NEW.agent_id, NEW.check_id))`

const PLACE = "opened_at, resolved_at, state, severity, ack_until"

const HAS_MOVED = `(OLD.phase, OLD.severity_rank, OLD.opened_at, OLD.resolved_order)
  <> (NEW.phase, NEW.severity_rank, NEW.opened_at, NEW.resolved_order)`

/** False of an incident whose opener joined it, and perhaps left it: of most. */
const HAS_OTHERS = "NEW.member_changes > CASE NEW.state WHEN 'resolved' THEN 2 ELSE 1 END"

/** The check that opened an incident, or a part of it, in front of an index. */
const OPENERS = [
  ["", ""],
  ["_of_agent", "opener_agent_id, "],
  ["_of_check", "opener_check_id, "],
  ["_of_both", "opener_agent_id, opener_check_id, "],
] as const

const indexesBy = (order: "opened_at" | "resolved_at", column: string): string =>
  [
    ...OPENERS.map(
      ([of, columns]) =>
        `CREATE INDEX incident${of}_by_${order} ON incident (${columns}phase, severity_rank, ${column}, id);`,
    ),
    `CREATE INDEX listed_member_by_${order} ON listed_member (agent_id, check_id, phase, severity_rank, ${column}, id);`,
  ].join("\n")

/**
 * Every filter and order of incidents has an index that begins with the filter, so that a page reads its
 * own rows only.
 *
 * The table of incidents has those for the check that opened each. `listed_member` has rows for other
 * members: by agent, by check, and by both; the empty text stands for all. Phases: 0 resolved, 1 open,
 * 2 acknowledged. A change moves few rows: those of an incident with more than 100 changes get phase 3
 * instead, and stay there.
 */
export const LISTS = `
CREATE TABLE listed_member (
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

${indexesBy("opened_at", "opened_at")}
${indexesBy("resolved_at", "resolved_order")}

CREATE TRIGGER members_move AFTER UPDATE OF ${PLACE}, member_changes ON incident
WHEN ${HAS_OTHERS} AND NOT ${isBusy("OLD")} AND (${HAS_MOVED} OR ${isBusy("NEW")})
BEGIN
  UPDATE listed_member
  SET phase = CASE WHEN ${isBusy("NEW")} THEN 3 ELSE NEW.phase END,
    severity_rank = CASE WHEN ${isBusy("NEW")} THEN 0 ELSE NEW.severity_rank END,
    opened_at = NEW.opened_at, resolved_order = NEW.resolved_order
  WHERE id = NEW.id;
END;

CREATE TRIGGER member_is_listed AFTER INSERT ON incident_member WHEN ${JOINED_LATER} BEGIN
  ${LIST_MEMBER}
END;

CREATE TRIGGER member_leaves AFTER DELETE ON incident_member BEGIN
  DELETE FROM listed_member WHERE id = OLD.incident_id AND agent_id = OLD.agent_id AND check_id IN (OLD.check_id, '');
  DELETE FROM listed_member WHERE id = OLD.incident_id AND agent_id = '' AND check_id = OLD.check_id;
END;
`

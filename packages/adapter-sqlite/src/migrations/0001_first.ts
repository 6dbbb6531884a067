import { HAS_OTHERS, isBusy } from "@tocsin/core/kernel/schema/firstIncidentTables"
import { FIRST_INDEXES, firstTables } from "@tocsin/core/kernel/schema/firstTables"
import type { Migration } from "@tocsin/core/kernel/ports/Migration"

const NUMBERED = "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"

export const typed = (columns: string): string =>
  columns
    .replace(NUMBERED, "INTEGER PRIMARY KEY AUTOINCREMENT")
    .replaceAll(/^( {2}\w+) (?:text|uuid|json)\b/gm, "$1 TEXT")
    .replaceAll(/^( {2}\w+) (?:bigint|integer|smallint|boolean)\b/gm, "$1 INTEGER")
    .replaceAll(/^( {2}\w+) bytea\b/gm, "$1 BLOB")

/** A table is a tree of its primary key, unless SQLite numbers its rows. */
export const tablesOf = (tables: Readonly<Record<string, string>>): string =>
  Object.entries(tables)
    .map(
      ([name, columns]) =>
        `CREATE TABLE ${name} (${typed(columns)}\n) STRICT${columns.includes(NUMBERED) ? "" : ", WITHOUT ROWID"};\n`,
    )
    .join("\n")

const INDEXES = `${FIRST_INDEXES}
CREATE INDEX listed_member_by_opened_at ON listed_member (agent_id, check_id, phase, severity_rank, opened_at, id);
CREATE INDEX listed_member_by_resolved_at ON listed_member (agent_id, check_id, phase, severity_rank, resolved_order, id);
CREATE INDEX outbox_of_incident ON outbox (incident_id, incident_seq);
CREATE INDEX outbox_unfinished ON outbox (incident_id) WHERE state IN ('pending', 'sending', 'retry');
CREATE INDEX check_event_of_agent ON check_event (registration_id);
CREATE INDEX check_event_of_check ON check_event (registration_id, check_id);
CREATE INDEX check_event_by_check_id ON check_event (check_id);
CREATE INDEX check_event_by_age ON check_event (received_at) WHERE is_kept = 0;
CREATE INDEX check_event_kept ON check_event (registration_id, check_id) WHERE is_kept = 1;
`

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

/** Triggers that keep `listed_member`. */
const LISTS = `
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

/** The triggers that keep a row for each label of a table; an agent has no check. */
export const labelTriggers = (table: string): string => {
  const key = table === "agent" ? "ROW.agent_id, '', ''" : "ROW.agent_id, ROW.check_id, ROW.registration_id"
  const of = (row: string) =>
    `SELECT key, value, ${key.replaceAll("ROW", row)} FROM json_each(iif(json_valid(${row}.labels), ${row}.labels, '{}')) WHERE typeof(key) = 'text' AND type = 'text'`
  const add = `INSERT INTO label ${of("NEW")};`
  const remove = `DELETE FROM label WHERE (name, value, agent_id, check_id, registration_id) IN (${of("OLD")});`
  return `
CREATE TRIGGER ${table}_comes_with_labels AFTER INSERT ON ${table} WHEN NEW.labels IS NOT NULL BEGIN ${add} END;
CREATE TRIGGER ${table}_changes_labels AFTER UPDATE OF labels ON ${table} WHEN OLD.labels IS NOT NEW.labels
BEGIN ${remove} ${add} END;
CREATE TRIGGER ${table}_goes_with_labels AFTER DELETE ON ${table} WHEN OLD.labels IS NOT NULL BEGIN ${remove} END;
`
}

/** A row for each label of an agent or a check, which finds these by it. Triggers keep them for every writer. */
const LABELS = `
CREATE TABLE label (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  PRIMARY KEY (name, value, agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;
${labelTriggers("agent")}${labelTriggers("expectation")}`

/** The terms of an agent in each total. */
const COUNTS = {
  agents_accepted: "(ROW.admission_state = 'accepted')",
  agents_pending: "(ROW.admission_state = 'pending')",
  agents_dead: "(ROW.admission_state = 'accepted' AND ROW.heartbeat_incident_id IS NOT NULL)",
  checks_ok: "ROW.checks_ok",
  checks_warning: "ROW.checks_warning",
  checks_critical: "ROW.checks_critical",
  checks_unknown: "ROW.checks_unknown",
}

/** Adds rows to the totals, or takes them away: `+ NEW`, `- OLD`. */
const changes = (...rows: ReadonlyArray<string>): string =>
  Object.entries(COUNTS)
    .map(([total, count]) => {
      const terms = rows.map((row) => `${row.slice(0, 2)}${count.replaceAll("ROW", row.slice(2))}`)
      return `${total} = ${total} ${terms.join(" ")}`
    })
    .join(", ")

/** The triggers that keep the totals of agents; each changes more if that is given. */
export const agentTriggers = (onArrival = "", onChange = ""): string => `
CREATE TRIGGER agent_comes AFTER INSERT ON agent BEGIN
  UPDATE system_total SET ${onArrival}${changes("+ NEW")};
END;

CREATE TRIGGER agent_goes AFTER DELETE ON agent BEGIN
  UPDATE system_total SET ${changes("- OLD")};
END;

CREATE TRIGGER agent_counts_otherwise
AFTER UPDATE OF checks_ok, checks_warning, checks_critical, checks_unknown, admission_state, heartbeat_incident_id ON agent
WHEN OLD.checks_ok IS NOT NEW.checks_ok OR OLD.checks_warning IS NOT NEW.checks_warning
  OR OLD.checks_critical IS NOT NEW.checks_critical OR OLD.checks_unknown IS NOT NEW.checks_unknown
  OR OLD.admission_state IS NOT NEW.admission_state OR OLD.heartbeat_incident_id IS NOT NEW.heartbeat_incident_id
BEGIN
  UPDATE system_total SET
    ${onChange}${changes("+ NEW", "- OLD")};
END;
`

/**
 * Running totals, so that the summary and a registration need not count agents. Triggers keep them for
 * every writer, and do nothing for heartbeats and results that change no status.
 */
const TOTALS = `
INSERT INTO system_total (writer) VALUES (0);
${agentTriggers(
  "acceptances = acceptances + (NEW.admission_state = 'accepted'), ",
  "acceptances = acceptances + ((NEW.admission_state = 'accepted') > (OLD.admission_state = 'accepted')),\n    ",
)}`

/** The whole schema of the first version that was published. Times are microseconds since 1970. */
export const migration: Migration = {
  id: 1,
  name: "first",
  compatibility: "breaking",
  sql: [tablesOf(firstTables), INDEXES, TOTALS, LISTS, LABELS].join(""),
}

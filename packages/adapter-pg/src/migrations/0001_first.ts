import { HAS_OTHERS, isBusy } from "@tocsin/core/kernel/schema/firstIncidentTables"
import { FIRST_INDEXES, firstTables } from "@tocsin/core/kernel/schema/firstTables"
import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/**
 * How far the pages of tables are filled. An update leaves the new version of a row in its page (HOT) if that has
 * room, and if no index contains a column that changes. Those of `system_total` have room for the versions of a
 * transaction's updates.
 */
const FILL_FACTORS: Readonly<Record<string, number>> = {
  agent: 50,
  check_state: 50,
  service_heartbeat: 50,
  agent_key: 70,
  check_label: 70,
  expectation: 70,
  incident: 70,
  incident_member: 70,
  job_run: 70,
  outbox: 70,
  alert: 70,
  reported_alert: 70,
  listed_member: 70,
  system_total: 10,
}

export const bytewise = (columns: string): string =>
  columns.replaceAll(/^( {2}\w+ text)\b/gm, '$1 COLLATE "C"')

export const tablesOf = (tables: Readonly<Record<string, string>>): string =>
  Object.entries(tables)
    .map(([name, columns]) => {
      const fill = FILL_FACTORS[name]
      return `CREATE TABLE ${name} (${bytewise(columns)}\n)${fill === undefined ? "" : ` WITH (fillfactor = ${fill})`};\n`
    })
    .join("\n")

/**
 * Only a statement that names the condition of the indexes of `listed_member` is planned with them. One that moves a
 * row has the primary key alone: without statistics, PostgreSQL would look for the row among those of all incidents.
 */
const INDEXES = `${FIRST_INDEXES}
CREATE INDEX listed_member_by_opened_at ON listed_member
(agent_id, check_id, phase, severity_rank, opened_at, id) WHERE phase >= 0;
CREATE INDEX listed_member_by_resolved_at ON listed_member
(agent_id, check_id, phase, severity_rank, resolved_order, id) WHERE phase >= 0;
CREATE INDEX outbox_of_incident ON outbox (incident_id, receiver, incident_seq);
CREATE INDEX agent_by_labels ON agent USING gin ((labels::jsonb) jsonb_path_ops);
CREATE INDEX expectation_by_labels ON expectation USING gin ((labels::jsonb) jsonb_path_ops);

-- seq + 0 is an order that the primary key does not have: PostgreSQL would walk it, past any number of other rows.
CREATE INDEX check_event_of_agent ON check_event (agent_id, registration_id, (seq + 0));
CREATE INDEX check_event_of_check ON check_event (agent_id, check_id, registration_id, (seq + 0));
CREATE INDEX check_event_by_check_id ON check_event (check_id, (seq + 0));
CREATE INDEX check_event_by_age ON check_event (received_at) WHERE NOT is_kept;
CREATE INDEX check_event_kept ON check_event (agent_id, check_id) WHERE is_kept;
`

const AMONG_MEMBERS =
  "(VALUES (m.agent_id, m.check_id), (m.agent_id, ''), ('', m.check_id)) AS of (agent_id, check_id)"

const isOfOpener = (column: "agent_id" | "check_id"): string => `of.${column} IN ('', i.opener_${column})`

/** Adds the rows of members, each once; those of a busy incident have phase 3 for good. */
const listMembers = (members: string): string => `INSERT INTO listed_member
    SELECT DISTINCT i.id, of.agent_id, of.check_id, CASE WHEN ${isBusy("i")} THEN 3 ELSE i.phase END,
      CASE WHEN ${isBusy("i")} THEN 0 ELSE i.severity_rank END, i.opened_at, i.resolved_order
    FROM ${members} AS m JOIN incident AS i ON i.id = m.incident_id CROSS JOIN LATERAL ${AMONG_MEMBERS}
    WHERE NOT (${isOfOpener("agent_id")} AND ${isOfOpener("check_id")})
    ON CONFLICT DO NOTHING`

const PLACE = ["phase", "severity_rank", "opened_at", "resolved_order"] as const

/** Whether an incident is listed elsewhere than before. */
const HAS_MOVED = `(${isBusy("OLD")}, ${PLACE.map((name) => `OLD.${name}`).join(", ")})
    IS DISTINCT FROM (${isBusy("NEW")}, ${PLACE.map((name) => `NEW.${name}`).join(", ")})`

/** Triggers that keep `listed_member`. */
const LISTS = `
CREATE FUNCTION unlist_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE listed_member;
  ELSE
    DELETE FROM listed_member AS l USING earlier WHERE l.id = earlier.id;
  END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION move_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT ${isBusy("NEW")} THEN
    UPDATE listed_member AS l
    SET phase = NEW.phase, severity_rank = NEW.severity_rank,
      opened_at = NEW.opened_at, resolved_order = NEW.resolved_order
    WHERE l.id = NEW.id;
  ELSIF NOT ${isBusy("OLD")} THEN
    UPDATE listed_member AS l SET phase = 3, severity_rank = 0 WHERE l.id = NEW.id;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER members_move AFTER UPDATE ON incident FOR EACH ROW WHEN (${HAS_OTHERS} AND ${HAS_MOVED})
  EXECUTE FUNCTION move_members();
CREATE TRIGGER incidents_leave AFTER DELETE ON incident REFERENCING OLD TABLE AS earlier
  FOR EACH STATEMENT EXECUTE FUNCTION unlist_members();
CREATE TRIGGER incidents_are_gone AFTER TRUNCATE ON incident
  FOR EACH STATEMENT EXECUTE FUNCTION unlist_members();

CREATE FUNCTION list_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    ${listMembers("later")};
  ELSE
    DELETE FROM listed_member AS l USING earlier AS m CROSS JOIN LATERAL ${AMONG_MEMBERS}
    WHERE l.id = m.incident_id AND l.agent_id = of.agent_id AND l.check_id = of.check_id;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER members_are_listed AFTER INSERT ON incident_member REFERENCING NEW TABLE AS later
  FOR EACH STATEMENT EXECUTE FUNCTION list_members();
CREATE TRIGGER members_leave AFTER DELETE ON incident_member REFERENCING OLD TABLE AS earlier
  FOR EACH STATEMENT EXECUTE FUNCTION list_members();
`

/** The totals of agents, each counted with its `sign`: 1 for a row that comes, -1 for one that goes. */
export const SUMS = `coalesce(sum(sign) FILTER (WHERE admission_state = 'accepted'), 0) AS accepted,
         coalesce(sum(sign) FILTER (WHERE admission_state = 'pending'), 0) AS pending,
         coalesce(sum(sign) FILTER (WHERE admission_state = 'accepted' AND heartbeat_incident_id IS NOT NULL), 0) AS dead,
         coalesce(sum(sign * checks_ok), 0) AS ok, coalesce(sum(sign * checks_warning), 0) AS warning,
         coalesce(sum(sign * checks_critical), 0) AS critical, coalesce(sum(sign * checks_unknown), 0) AS unknown`

/**
 * Running totals, so that the summary and a registration need not count agents and incidents. Triggers keep
 * them, once a statement; those on updates of agents run once for each row that changes a total, so that
 * heartbeats run none. Each server process has a row, so that transactions rarely wait for each other; a row
 * may be negative. `recount_system_total()` repairs what writers without triggers
 * (`session_replication_role = replica`) left wrong.
 */
const TOTALS = `
CREATE FUNCTION add_agents_to_system_total() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  change record;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    UPDATE system_total SET agents_accepted = 0, agents_pending = 0, agents_dead = 0,
                            checks_ok = 0, checks_warning = 0, checks_critical = 0, checks_unknown = 0;
    RETURN NULL;
  ELSIF TG_OP = 'INSERT' THEN
    SELECT ${SUMS} INTO change FROM (SELECT *, 1 AS sign FROM later) AS agent;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT ${SUMS} INTO change FROM (SELECT *, -1 AS sign FROM earlier) AS agent;
  ELSE
    SELECT ${SUMS} INTO change FROM (SELECT NEW.*, 1 AS sign UNION ALL SELECT OLD.*, -1) AS agent;
  END IF;
  IF change.accepted = 0 AND change.pending = 0 AND change.dead = 0 AND change.ok = 0 AND change.warning = 0
     AND change.critical = 0 AND change.unknown = 0 THEN
    RETURN NULL;
  END IF;
  INSERT INTO system_total AS total (writer, agents_accepted, agents_pending, agents_dead, acceptances,
                                     checks_ok, checks_warning, checks_critical, checks_unknown)
  VALUES (pg_backend_pid() % 1024, change.accepted, change.pending, change.dead, greatest(change.accepted, 0),
          change.ok, change.warning, change.critical, change.unknown)
  ON CONFLICT (writer) DO UPDATE SET
    agents_accepted = total.agents_accepted + EXCLUDED.agents_accepted,
    agents_pending = total.agents_pending + EXCLUDED.agents_pending,
    agents_dead = total.agents_dead + EXCLUDED.agents_dead,
    acceptances = total.acceptances + EXCLUDED.acceptances,
    checks_ok = total.checks_ok + EXCLUDED.checks_ok,
    checks_warning = total.checks_warning + EXCLUDED.checks_warning,
    checks_critical = total.checks_critical + EXCLUDED.checks_critical,
    checks_unknown = total.checks_unknown + EXCLUDED.checks_unknown;
  RETURN NULL;
END
$$;

CREATE TRIGGER agents_come AFTER INSERT ON agent REFERENCING NEW TABLE AS later
  FOR EACH STATEMENT EXECUTE FUNCTION add_agents_to_system_total();
CREATE TRIGGER agents_change AFTER UPDATE ON agent FOR EACH ROW
  WHEN (OLD.checks_ok <> NEW.checks_ok OR OLD.checks_warning <> NEW.checks_warning
        OR OLD.checks_critical <> NEW.checks_critical OR OLD.checks_unknown <> NEW.checks_unknown
        OR OLD.admission_state <> NEW.admission_state
        OR (OLD.heartbeat_incident_id IS NULL) <> (NEW.heartbeat_incident_id IS NULL))
  EXECUTE FUNCTION add_agents_to_system_total();
CREATE TRIGGER agents_go AFTER DELETE ON agent REFERENCING OLD TABLE AS earlier
  FOR EACH STATEMENT EXECUTE FUNCTION add_agents_to_system_total();
CREATE TRIGGER agents_vanish AFTER TRUNCATE ON agent
  FOR EACH STATEMENT EXECUTE FUNCTION add_agents_to_system_total();

CREATE FUNCTION recount_system_total() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  accepted_ever bigint;
BEGIN
  LOCK TABLE agent, incident IN SHARE MODE;
  SELECT coalesce(sum(acceptances), 0) INTO accepted_ever FROM system_total;
  TRUNCATE system_total;
  INSERT INTO system_total (writer, agents_accepted, agents_pending, agents_dead, acceptances,
                            checks_ok, checks_warning, checks_critical, checks_unknown, incidents_open)
  SELECT 0, accepted, pending, dead, accepted_ever, ok, warning, critical, unknown,
         (SELECT count(*) FROM incident WHERE state = 'open')
  FROM (SELECT ${SUMS} FROM (SELECT *, 1 AS sign FROM agent) AS counted) AS totals;
END
$$;

CREATE FUNCTION add_incidents_to_system_total() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  opened bigint := 0;
  resolved bigint := 0;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    UPDATE system_total SET incidents_open = 0 WHERE incidents_open <> 0;
    RETURN NULL;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    SELECT count(*) INTO opened FROM later WHERE state = 'open';
  END IF;
  IF TG_OP <> 'INSERT' THEN
    SELECT count(*) INTO resolved FROM earlier WHERE state = 'open';
  END IF;
  IF opened <> resolved THEN
    INSERT INTO system_total AS total (writer, incidents_open)
    VALUES (pg_backend_pid() % 1024, opened - resolved)
    ON CONFLICT (writer) DO UPDATE SET incidents_open = total.incidents_open + EXCLUDED.incidents_open;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER incidents_come AFTER INSERT ON incident REFERENCING NEW TABLE AS later
  FOR EACH STATEMENT EXECUTE FUNCTION add_incidents_to_system_total();
CREATE TRIGGER incidents_change AFTER UPDATE ON incident REFERENCING OLD TABLE AS earlier NEW TABLE AS later
  FOR EACH STATEMENT EXECUTE FUNCTION add_incidents_to_system_total();
CREATE TRIGGER incidents_go AFTER DELETE ON incident REFERENCING OLD TABLE AS earlier
  FOR EACH STATEMENT EXECUTE FUNCTION add_incidents_to_system_total();
CREATE TRIGGER incidents_vanish AFTER TRUNCATE ON incident
  FOR EACH STATEMENT EXECUTE FUNCTION add_incidents_to_system_total();

SELECT recount_system_total();
`

/**
 * The whole schema of the first version that was published.
 *
 * Each order of a list has one index that can serve it, so that no estimate decides how a page is
 * read. Times are microseconds since 1970. Text is compared bytewise. There are no foreign keys: the locks of
 * agents and incidents guard their rows, and tables can be distributed.
 */
export const migration: Migration = {
  id: 1,
  name: "first",
  compatibility: "breaking",
  sql: [tablesOf(firstTables), INDEXES, TOTALS, LISTS].join(""),
}

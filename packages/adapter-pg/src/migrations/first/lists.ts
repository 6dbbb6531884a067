/** Whether an incident changed its members too often to be moved with each of them. */
const isBusy = (row: string): string => `${row}.member_changes > 100`

const phaseOf = (row: string): string =>
  `CASE WHEN ${row}.state = 'resolved' THEN 0 WHEN ${row}.ack_until IS NULL THEN 1 ELSE 2 END`

const AMONG_MEMBERS =
  "(VALUES (m.agent_id, m.check_id), (m.agent_id, ''), ('', m.check_id)) AS of (agent_id, check_id)"

/** Adds the rows of members, each once; those of a busy incident have phase 3 for good. */
const listMembers = (members: string): string => `INSERT INTO listed_incident
    SELECT DISTINCT i.id, of.agent_id, of.check_id, CASE WHEN ${isBusy("i")} THEN 3 ELSE ${phaseOf("i")} END,
      CASE WHEN ${isBusy("i")} THEN 0 ELSE i.severity_rank END, i.opened_at, i.resolved_order
    FROM ${members} AS m JOIN incident AS i ON i.id = m.incident_id CROSS JOIN LATERAL ${AMONG_MEMBERS}
    ON CONFLICT DO NOTHING`

const listIncidents = (incidents: string): string => `INSERT INTO listed_incident
    SELECT i.id, '', '', ${phaseOf("i")}, i.severity_rank, i.opened_at, i.resolved_order FROM ${incidents} AS i`

const isRow = (id: string, agentId: string, checkId: string): string =>
  `l.id = ${id} AND l.agent_id = ${agentId} AND l.check_id = ${checkId}`

const PLACE = ["severity_rank", "opened_at", "resolved_order"] as const

/** Whether an incident is listed elsewhere than before. */
const HAS_MOVED = `(${phaseOf("OLD")}, ${isBusy("OLD")}, ${PLACE.map((name) => `OLD.${name}`).join(", ")})
    IS DISTINCT FROM (${phaseOf("NEW")}, ${isBusy("NEW")}, ${PLACE.map((name) => `NEW.${name}`).join(", ")})`

/** True of each row. */
const IN_ORDER = "phase >= 0"

const ORDERS = [
  ["opened_at", "opened_at"],
  ["resolved_at", "resolved_order"],
] as const

/**
 * Every filter and order of incidents has an index that begins with the filter, so that a page reads its
 * own rows only.
 *
 * `listed_incident` has a row for each incident, and others for its members: by agent, by check, and
 * by both; the empty text stands for all. Phases: 0 resolved, 1 open, 2 acknowledged. A change moves
 * few rows: those of an incident with more than 100 changes get phase 3 instead, and stay there.
 *
 * Only a statement that names the condition of the ordering indexes is planned with them. One that moves
 * a row has the primary key alone: without statistics, PostgreSQL would look for the row among those of
 * all incidents.
 */
export const LISTS = `
CREATE TABLE listed_incident (
  id text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  phase smallint NOT NULL,
  severity_rank smallint NOT NULL,
  opened_at bigint NOT NULL,
  resolved_order bigint NOT NULL,
  state_rank smallint NOT NULL GENERATED ALWAYS AS (CASE phase WHEN 0 THEN 0 ELSE 1 END) STORED,
  PRIMARY KEY (id, agent_id, check_id)
) WITH (fillfactor = 70);

${ORDERS.map(([name, column]) => `CREATE INDEX listed_incident_by_${name} ON listed_incident (agent_id, check_id, phase, severity_rank, ${column}, id) WHERE ${IN_ORDER};`).join("\n")}

CREATE FUNCTION list_incidents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    ${listIncidents("later")};
  ELSIF TG_OP = 'TRUNCATE' THEN
    TRUNCATE listed_incident;
  ELSE
    DELETE FROM listed_incident AS l USING earlier WHERE l.id = earlier.id;
  END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION move_incident() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF ${isBusy("NEW")} THEN
    UPDATE listed_incident AS l
    SET phase = ${phaseOf("NEW")}, severity_rank = NEW.severity_rank,
      opened_at = NEW.opened_at, resolved_order = NEW.resolved_order
    WHERE ${isRow("NEW.id", "''", "''")};
    IF NOT ${isBusy("OLD")} THEN
      UPDATE listed_incident AS l SET phase = 3, severity_rank = 0
      WHERE l.id = NEW.id AND l.agent_id || l.check_id <> '';
    END IF;
  ELSE
    UPDATE listed_incident AS l
    SET phase = ${phaseOf("NEW")}, severity_rank = NEW.severity_rank,
      opened_at = NEW.opened_at, resolved_order = NEW.resolved_order
    WHERE l.id = NEW.id;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER incidents_are_listed AFTER INSERT ON incident REFERENCING NEW TABLE AS later
  FOR EACH STATEMENT EXECUTE FUNCTION list_incidents();
CREATE TRIGGER incident_moves AFTER UPDATE ON incident FOR EACH ROW WHEN (${HAS_MOVED})
  EXECUTE FUNCTION move_incident();
CREATE TRIGGER incidents_leave AFTER DELETE ON incident REFERENCING OLD TABLE AS earlier
  FOR EACH STATEMENT EXECUTE FUNCTION list_incidents();
CREATE TRIGGER incidents_are_gone AFTER TRUNCATE ON incident
  FOR EACH STATEMENT EXECUTE FUNCTION list_incidents();

CREATE FUNCTION list_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    ${listMembers("later")};
  ELSE
    DELETE FROM listed_incident AS l USING earlier AS m CROSS JOIN LATERAL ${AMONG_MEMBERS}
    WHERE ${isRow("m.incident_id", "of.agent_id", "of.check_id")};
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER members_are_listed AFTER INSERT ON incident_member REFERENCING NEW TABLE AS later
  FOR EACH STATEMENT EXECUTE FUNCTION list_members();
CREATE TRIGGER members_leave AFTER DELETE ON incident_member REFERENCING OLD TABLE AS earlier
  FOR EACH STATEMENT EXECUTE FUNCTION list_members();
`

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

/** Of all that an incident is listed by. */
const placeOf = (row: string): string =>
  `${phaseOf(row)}, ${isBusy(row)}, ${row}.severity_rank, ${row}.opened_at, ${row}.resolved_order`

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

${ORDERS.map(([name, column]) => `CREATE INDEX listed_incident_by_${name} ON listed_incident (agent_id, check_id, phase, severity_rank, ${column}, id);`).join("\n")}

CREATE FUNCTION list_incidents() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed record;
BEGIN
  IF TG_OP = 'INSERT' THEN
    ${listIncidents("later")};
  ELSIF TG_OP = 'TRUNCATE' THEN
    TRUNCATE listed_incident;
  ELSIF TG_OP = 'DELETE' THEN
    DELETE FROM listed_incident AS l USING earlier WHERE l.id = earlier.id;
  ELSE
    FOR changed IN
      SELECT later.id, ${phaseOf("later")} AS phase, later.severity_rank, later.opened_at, later.resolved_order,
        ${isBusy("earlier")} AS was_busy, ${isBusy("later")} AS is_busy
      FROM earlier JOIN later USING (id)
      WHERE (${placeOf("earlier")}) <> (${placeOf("later")})
    LOOP
      UPDATE listed_incident AS l
      SET phase = changed.phase, severity_rank = changed.severity_rank,
        opened_at = changed.opened_at, resolved_order = changed.resolved_order
      WHERE l.id = changed.id AND l.agent_id = '' AND l.check_id = '';
      CONTINUE WHEN changed.was_busy;
      UPDATE listed_incident AS l
      SET phase = CASE WHEN changed.is_busy THEN 3 ELSE changed.phase END,
        severity_rank = CASE WHEN changed.is_busy THEN 0 ELSE changed.severity_rank END,
        opened_at = changed.opened_at, resolved_order = changed.resolved_order
      WHERE l.id = changed.id AND l.agent_id || l.check_id <> '';
    END LOOP;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER incidents_are_listed AFTER INSERT ON incident REFERENCING NEW TABLE AS later
  FOR EACH STATEMENT EXECUTE FUNCTION list_incidents();
CREATE TRIGGER incidents_move AFTER UPDATE ON incident REFERENCING OLD TABLE AS earlier NEW TABLE AS later
  FOR EACH STATEMENT EXECUTE FUNCTION list_incidents();
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

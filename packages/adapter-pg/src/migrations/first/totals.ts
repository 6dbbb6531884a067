/** The totals of agents, each counted with its `sign`: 1 for a row that comes, -1 for one that goes. */
const SUMS = `coalesce(sum(sign) FILTER (WHERE admission_state = 'accepted'), 0) AS accepted,
         coalesce(sum(sign) FILTER (WHERE admission_state = 'pending'), 0) AS pending,
         coalesce(sum(sign) FILTER (WHERE admission_state = 'accepted' AND heartbeat_incident_id IS NOT NULL), 0) AS dead,
         coalesce(sum(sign * checks_ok), 0) AS ok, coalesce(sum(sign * checks_warning), 0) AS warning,
         coalesce(sum(sign * checks_critical), 0) AS critical, coalesce(sum(sign * checks_unknown), 0) AS unknown`

/**
 * Running totals, so that the summary and a registration need not count agents and incidents.
 *
 * Triggers keep them for every writer. Insertions and deletions change them once a statement; a trigger
 * on updates of agents is one for each row that changes a total, so that heartbeats run none. Each
 * server process has a row, so that transactions rarely wait for each other. A row may be negative; only
 * the sum counts. Pages keep room for the versions of a transaction's updates.
 *
 * `recount_system_total()` counts all totals again and shrinks the table. It repairs what writers
 * without triggers (`session_replication_role = replica`) left wrong.
 */
export const TOTALS = `
CREATE TABLE system_total (
  writer smallint PRIMARY KEY,
  agents_accepted bigint NOT NULL DEFAULT 0,
  agents_pending bigint NOT NULL DEFAULT 0,
  agents_dead bigint NOT NULL DEFAULT 0,
  acceptances bigint NOT NULL DEFAULT 0,
  checks_ok bigint NOT NULL DEFAULT 0,
  checks_warning bigint NOT NULL DEFAULT 0,
  checks_critical bigint NOT NULL DEFAULT 0,
  checks_unknown bigint NOT NULL DEFAULT 0,
  incidents_open bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

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

import type { Migration } from "@tocsin/core/ports/Migration"

/** The totals of agents, each counted with its `sign`: 1 for a row that comes, -1 for one that goes. */
const SUMS = `coalesce(sum(sign) FILTER (WHERE admission_state = 'accepted'), 0) AS accepted,
         coalesce(sum(sign) FILTER (WHERE admission_state = 'pending'), 0) AS pending,
         coalesce(sum(sign) FILTER (WHERE admission_state = 'accepted' AND heartbeat_incident_id IS NOT NULL), 0) AS dead,
         coalesce(sum(sign * checks_ok), 0) AS ok, coalesce(sum(sign * checks_warning), 0) AS warning,
         coalesce(sum(sign * checks_critical), 0) AS critical, coalesce(sum(sign * checks_unknown), 0) AS unknown`

/**
 * Insertions and deletions change the totals of agents once a statement: once for each row, a copy
 * of 40,000 agents took two minutes. A trigger on updates stays one for each row that changes a
 * total, so that heartbeats run none. Pages keep room for the versions of a transaction's updates.
 *
 * `recount_system_total()` counts all totals again and shrinks the table. It repairs what writers
 * without triggers (`session_replication_role = replica`) left wrong.
 */
export const migration: Migration = {
  id: 18,
  name: "totals_by_statement",
  compatibility: "compatible",
  sql: `
DROP TRIGGER agent_comes_or_goes ON agent;
DROP TRIGGER agent_counts_otherwise ON agent;
DROP TRIGGER pending_agents_come ON agent;
DROP TRIGGER pending_agents_change ON agent;
DROP TRIGGER pending_agents_go ON agent;
DROP TRIGGER pending_agents_vanish ON agent;
DROP FUNCTION add_agent_to_system_total();
DROP FUNCTION add_pending_agents_to_system_total();

ALTER TABLE system_total SET (fillfactor = 10);

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

SELECT recount_system_total();
`,
}

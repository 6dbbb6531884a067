import type { Migration } from "@tocsin/core/ports/Migration"

/**
 * Running totals, so that the summary need not read all agents, and one index less for each
 * membership: the primary key in another order finds the incidents of a check too.
 *
 * Triggers keep the totals for every writer, including replicas of the previous release during an
 * upgrade. They do nothing for heartbeats and results that change no status. Each server process of
 * PostgreSQL has its own row, so that transactions rarely wait for each other. A row may be
 * negative; only the sum counts. Creating the triggers blocks writers until the totals are counted.
 */
export const migration: Migration = {
  id: 2,
  name: "running_totals",
  compatibility: "compatible",
  sql: `
CREATE TABLE system_total (
  writer smallint PRIMARY KEY,
  agents_accepted bigint NOT NULL,
  agents_dead bigint NOT NULL,
  acceptances bigint NOT NULL,
  checks_ok bigint NOT NULL,
  checks_warning bigint NOT NULL,
  checks_critical bigint NOT NULL,
  checks_unknown bigint NOT NULL
) WITH (fillfactor = 50);

CREATE FUNCTION add_agent_to_system_total() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was_accepted integer := coalesce((OLD.admission_state = 'accepted')::integer, 0);
  is_accepted integer := coalesce((NEW.admission_state = 'accepted')::integer, 0);
  was_dead integer := (was_accepted = 1 AND OLD.heartbeat_incident_id IS NOT NULL)::integer;
  is_dead integer := (is_accepted = 1 AND NEW.heartbeat_incident_id IS NOT NULL)::integer;
BEGIN
  INSERT INTO system_total AS total (writer, agents_accepted, agents_dead, acceptances,
                                     checks_ok, checks_warning, checks_critical, checks_unknown)
  VALUES (pg_backend_pid() % 1024, is_accepted - was_accepted, is_dead - was_dead, greatest(is_accepted - was_accepted, 0),
          coalesce(NEW.checks_ok, 0) - coalesce(OLD.checks_ok, 0),
          coalesce(NEW.checks_warning, 0) - coalesce(OLD.checks_warning, 0),
          coalesce(NEW.checks_critical, 0) - coalesce(OLD.checks_critical, 0),
          coalesce(NEW.checks_unknown, 0) - coalesce(OLD.checks_unknown, 0))
  ON CONFLICT (writer) DO UPDATE SET
    agents_accepted = total.agents_accepted + EXCLUDED.agents_accepted,
    agents_dead = total.agents_dead + EXCLUDED.agents_dead,
    acceptances = total.acceptances + EXCLUDED.acceptances,
    checks_ok = total.checks_ok + EXCLUDED.checks_ok,
    checks_warning = total.checks_warning + EXCLUDED.checks_warning,
    checks_critical = total.checks_critical + EXCLUDED.checks_critical,
    checks_unknown = total.checks_unknown + EXCLUDED.checks_unknown;
  RETURN NULL;
END
$$;

CREATE TRIGGER agent_comes_or_goes AFTER INSERT OR DELETE ON agent
  FOR EACH ROW EXECUTE FUNCTION add_agent_to_system_total();

CREATE TRIGGER agent_counts_otherwise AFTER UPDATE ON agent FOR EACH ROW
  WHEN (OLD.checks_ok <> NEW.checks_ok OR OLD.checks_warning <> NEW.checks_warning
        OR OLD.checks_critical <> NEW.checks_critical OR OLD.checks_unknown <> NEW.checks_unknown
        OR OLD.admission_state <> NEW.admission_state
        OR (OLD.heartbeat_incident_id IS NULL) <> (NEW.heartbeat_incident_id IS NULL))
  EXECUTE FUNCTION add_agent_to_system_total();

INSERT INTO system_total
SELECT 0, count(*) FILTER (WHERE admission_state = 'accepted'),
       count(*) FILTER (WHERE admission_state = 'accepted' AND heartbeat_incident_id IS NOT NULL), 0,
       coalesce(sum(checks_ok), 0), coalesce(sum(checks_warning), 0),
       coalesce(sum(checks_critical), 0), coalesce(sum(checks_unknown), 0)
FROM agent;

DROP INDEX incident_member_ever;
ALTER TABLE incident_member
  DROP CONSTRAINT incident_member_pkey,
  ADD PRIMARY KEY (agent_id, check_id, incident_id);
`,
}

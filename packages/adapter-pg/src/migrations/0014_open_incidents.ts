import type { Migration } from "@tocsin/core/ports/Migration"

/**
 * The number of open incidents in the running totals: counting them takes 50 ms after a storm of
 * 100,000. Triggers run once for a statement, whatever writes it. Only groups that open or resolve
 * incidents change the totals, each in the row of its server process.
 */
export const migration: Migration = {
  id: 14,
  name: "open_incidents",
  compatibility: "compatible",
  sql: `
ALTER TABLE system_total ADD COLUMN incidents_open bigint NOT NULL DEFAULT 0;

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
    INSERT INTO system_total AS total (writer, agents_accepted, agents_dead, acceptances,
                                       checks_ok, checks_warning, checks_critical, checks_unknown, incidents_open)
    VALUES (pg_backend_pid() % 1024, 0, 0, 0, 0, 0, 0, 0, opened - resolved)
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

UPDATE system_total SET incidents_open = (SELECT count(*) FROM incident WHERE state = 'open')
WHERE writer = (SELECT min(writer) FROM system_total);
`,
}

import type { Migration } from "@tocsin/core/kernel/ports/Migration"
import { SUMS } from "./0001_first.ts"

/** The totals of agents, and what `SUMS` calls them. */
const SUM_OF = {
  agents_accepted: "accepted",
  agents_pending: "pending",
  agents_dead: "dead",
  checks_ok: "ok",
  checks_warning: "warning",
  checks_critical: "critical",
  checks_unknown: "unknown",
}

const totals = Object.keys(SUM_OF)
const sums = Object.values(SUM_OF)

/** Nothing asks any more how often agents became accepted. Servers that do must be stopped first. */
export const migration: Migration = {
  id: 2,
  name: "acceptances_leave",
  compatibility: "breaking",
  sql: `
CREATE OR REPLACE FUNCTION add_agents_to_system_total() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  change record;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    UPDATE system_total SET ${totals.map((total) => `${total} = 0`).join(", ")};
    RETURN NULL;
  ELSIF TG_OP = 'INSERT' THEN
    SELECT ${SUMS} INTO change FROM (SELECT *, 1 AS sign FROM later) AS agent;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT ${SUMS} INTO change FROM (SELECT *, -1 AS sign FROM earlier) AS agent;
  ELSE
    SELECT ${SUMS} INTO change FROM (SELECT NEW.*, 1 AS sign UNION ALL SELECT OLD.*, -1) AS agent;
  END IF;
  IF ${sums.map((sum) => `change.${sum} = 0`).join(" AND ")} THEN
    RETURN NULL;
  END IF;
  INSERT INTO system_total AS total (writer, ${totals.join(", ")})
  VALUES (pg_backend_pid() % 1024, ${sums.map((sum) => `change.${sum}`).join(", ")})
  ON CONFLICT (writer) DO UPDATE SET
    ${totals.map((total) => `${total} = total.${total} + EXCLUDED.${total}`).join(", ")};
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION recount_system_total() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE agent, incident IN SHARE MODE;
  TRUNCATE system_total;
  INSERT INTO system_total (writer, ${totals.join(", ")}, incidents_open)
  SELECT 0, ${sums.join(", ")}, (SELECT count(*) FROM incident WHERE state = 'open')
  FROM (SELECT ${SUMS} FROM (SELECT *, 1 AS sign FROM agent) AS counted) AS totals;
END
$$;

ALTER TABLE system_total DROP COLUMN acceptances;
`,
}

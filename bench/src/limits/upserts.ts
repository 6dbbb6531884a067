import type { ThroughputCase } from "../cases.ts"

/** The rows of one statement. */
export type UpsertRows = NonNullable<ThroughputCase["ofUpserts"]>["rows"]

/** Agents whose rows are updated. */
export const UPSERT_AGENTS = 100

/** Tables like those of the service, by columns, keys and room for updates in place. */
export const upsertTables = `
CREATE TABLE limit_agent (
  agent_id text COLLATE "C" PRIMARY KEY,
  hostname text COLLATE "C" NOT NULL,
  features json NOT NULL,
  labels json,
  observed_at bigint NOT NULL,
  last_seen_at bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE limit_check (
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  exit_code bigint NOT NULL,
  last_observed_at bigint NOT NULL,
  received_at bigint NOT NULL,
  summary text COLLATE "C",
  seen_event_ids json NOT NULL,
  PRIMARY KEY (agent_id, check_id)
) WITH (fillfactor = 50);
`

/**
 * The statement; the number of an agent and a time stand where the parameters do. There is a blank
 * after each colon of JSON: pgbench would take `:true` for a variable.
 */
export const upsertStatement = (rows: UpsertRows, agent: string, time: string): string =>
  rows === 1
    ? `
INSERT INTO limit_agent (agent_id, hostname, features, labels, observed_at, last_seen_at)
VALUES ('agent-' || ${agent}::int, 'agent.site.example.org', '{"push": true, "metrics": false}',
  '{"service_agent_version": "1.0.0", "os": "linux", "site": "north", "role": "web"}', ${time}::bigint, ${time}::bigint)
ON CONFLICT (agent_id) DO UPDATE SET hostname = EXCLUDED.hostname, features = EXCLUDED.features,
  labels = EXCLUDED.labels, observed_at = EXCLUDED.observed_at, last_seen_at = EXCLUDED.last_seen_at;`
    : `
INSERT INTO limit_check
  (agent_id, check_id, status, exit_code, last_observed_at, received_at, summary, seen_event_ids)
SELECT 'agent-' || ${agent}::int, 'check-' || n, 'ok', 0, ${time}::bigint, ${time}::bigint,
  'PING OK - packet loss 0%, RTA 0.123456 ms', '["019a0000-0000-7000-8000-000000000000"]'
FROM generate_series(1, ${rows}) AS n
ON CONFLICT (agent_id, check_id) DO UPDATE SET status = EXCLUDED.status, exit_code = EXCLUDED.exit_code,
  last_observed_at = EXCLUDED.last_observed_at, received_at = EXCLUDED.received_at, summary = EXCLUDED.summary,
  seen_event_ids = EXCLUDED.seen_event_ids;`

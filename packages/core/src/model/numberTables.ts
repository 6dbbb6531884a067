/**
 * The tables of numbers over time (docs/rules.md#numbers), in the types of PostgreSQL. Parts that expire together
 * lie together, and a reader looks up each start.
 */
export const numberTables = `
CREATE TABLE number_series (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  agent_id text NOT NULL,
  registration_id uuid NOT NULL,
  check_id text NOT NULL,
  name text NOT NULL,
  unit text NOT NULL,
  newest bigint NOT NULL
);
CREATE UNIQUE INDEX number_series_of_check ON number_series (registration_id, check_id, name, unit);

CREATE TABLE number_part (
  kind smallint NOT NULL,
  start bigint NOT NULL,
  series_id bigint NOT NULL,
  server uuid NOT NULL,
  spans bytea NOT NULL,
  PRIMARY KEY (kind, start, series_id, server)
);
`

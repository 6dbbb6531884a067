import type { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import { bytes, integer, long, storedTable, text, uuid } from "../../kernel/model/TableShape.ts"

/** Series of numbers over time (docs/rules.md#numbers). */
export const number_series = storedTable({
  name: "number_series",
  key: ["id"],
  columns: {
    id: long,
    agent_id: text<AgentId>(),
    registration_id: uuid<RegistrationId>(),
    check_id: text<CheckId>(),
    name: text(),
    unit: text(),
    /** The start of its newest part, in milliseconds since 1970. */
    newest: long,
  },
})

/** The spans that a server measured of a series, as bytes. */
export const number_part = storedTable({
  name: "number_part",
  key: ["kind", "start", "series_id", "server"],
  columns: { kind: integer, start: long, series_id: long, server: uuid(), spans: bytes },
})

/** Both tables in the types of PostgreSQL. Parts that expire together lie together, and a reader looks up each start. */
export const numberSchema = `
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
  kind integer NOT NULL,
  start bigint NOT NULL,
  series_id bigint NOT NULL,
  server uuid NOT NULL,
  spans bytea NOT NULL,
  PRIMARY KEY (kind, start, series_id, server)
);
`

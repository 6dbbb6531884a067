import { firstTables } from "@tocsin/core/kernel/schema/firstTables"
import { fillOutbox } from "@tocsin/core/kernel/schema/formerOutbox"
import { numberSchema } from "@tocsin/core/features/numbers/numberTables"
import { separateTables, splitExpectations } from "@tocsin/core/kernel/schema/separateTables"
import type { Migration } from "@tocsin/core/kernel/ports/Migration"
import { labelTriggers, tablesOf, typed } from "./0001_first.ts"

const KEPT = `id, notifier, state, incident_id, event_type, incident_seq, severity, attempts, next_attempt_at, leased_until,
  created_at, age_starts_at, updated_at, summary, last_error, receiver, cause, first_attempted_at, next_evaluation_at,
  must_send, is_backfill, released_at, discarded_because, holds`

const FORMER_COLUMNS = /^ {2}(?:held_by|parent_ended_at|first_parent_ended_at) .*\n/gm

/** Conditions that compare a state with three or more values one by one. */
const comparedOneByOne = (columns: string): string =>
  columns.replaceAll(/\b(\w+) IN \(([^\s)]+(?:, [^\s)]+){2,})\)/g, (_, name: string, values: string) =>
    values
      .split(", ")
      .map((value) => `${name} = ${value}`)
      .join(" OR "),
  )

const { check_state = "", outbox = "" } = firstTables

/**
 * The tables whose CHECK changes, which SQLite does by making another table. For a list of three or more values, it
 * builds a table each time that a statement evaluates a CHECK or the condition of an index.
 */
const OTHER_TABLES = tablesOf({
  other_outbox: comparedOneByOne(
    outbox
      .replaceAll(FORMER_COLUMNS, "")
      .replace("  listed_state", "  discarded_because text,\n  holds json,\n  rotas json,\n  listed_state"),
  ),
  other_check_state: comparedOneByOne(check_state),
})

const OUTBOX = `
ALTER TABLE outbox ADD COLUMN discarded_because TEXT;
ALTER TABLE outbox ADD COLUMN holds TEXT;
${fillOutbox({
  object: "json_object",
  isTrue: "json('true')",
  least: "min",
  names:
    "SELECT value AS name, key AS place FROM json_each(iif(json_valid(outbox.held_by), outbox.held_by, '[]'))",
  list: "json_group_array(json(hold) ORDER BY place)",
})}
${OTHER_TABLES}
INSERT INTO other_outbox (${KEPT}) SELECT ${KEPT} FROM outbox;
DROP TABLE outbox;
ALTER TABLE other_outbox RENAME TO outbox;
CREATE INDEX outbox_by_created_at ON outbox (listed_state, notifier, event_type, created_at, id);
CREATE INDEX outbox_by_updated_at ON outbox (listed_state, notifier, event_type, updated_at, id);
CREATE INDEX outbox_due ON outbox (receiver, is_backfill, next_attempt_at, id) WHERE state IN ('pending', 'retry');
CREATE INDEX outbox_held ON outbox (next_evaluation_at, id) WHERE next_evaluation_at IS NOT NULL;
CREATE INDEX outbox_leased ON outbox (leased_until, id) WHERE state = 'sending';
CREATE INDEX outbox_of_incident ON outbox (incident_id, incident_seq);
CREATE INDEX outbox_unfinished ON outbox (incident_id) WHERE state = 'pending' OR state = 'sending' OR state = 'retry';

INSERT INTO other_check_state SELECT * FROM check_state;
DROP TABLE check_state;
ALTER TABLE other_check_state RENAME TO check_state;
CREATE INDEX check_state_not_ok ON check_state (agent_id, check_id) WHERE status <> 'ok';
`

const EXPECTATIONS = splitExpectations({
  terms: "iif(json_valid(terms), terms, NULL)",
  rest: "json_remove(terms, '$.source', '$.lease_millis', '$.starts', '$.log')",
  create: tablesOf(separateTables),
})

const MEMBERS = `
ALTER TABLE incident_member ADD COLUMN is_own INTEGER;
`

const REPLICAS = `
ALTER TABLE replica ADD COLUMN agent_sha256 TEXT;
`

/** One row, one meaning; cheaper changes; and numbers. Servers that read the former rows must be stopped first. */
export const migration: Migration = {
  id: 3,
  name: "separate_tables",
  compatibility: "breaking",
  sql: `${OUTBOX}${MEMBERS}${REPLICAS}${EXPECTATIONS}${labelTriggers("check_label")}
${typed(numberSchema).replaceAll(/^\);$/gm, ") STRICT;")}`,
}

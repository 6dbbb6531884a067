/** Counts up with each change of the tables. A newer agent's spool is refused, never rewritten. */
export const SCHEMA_VERSION = 1

/** The size of a row besides its body: other columns, indexes, and the share of its page. */
const ROW_OVERHEAD = 160

/**
 * `result` holds what the server has not taken yet, `check_state` the last result of each check,
 * `note` counters and what `status` shows. Triggers keep the size, so that no write has to sum it.
 */
export const SCHEMA = `
  CREATE TABLE result (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL,
    check_id TEXT NOT NULL,
    observed_ms INTEGER NOT NULL,
    status TEXT NOT NULL,
    exit_code INTEGER NOT NULL,
    is_change INTEGER NOT NULL,
    body TEXT NOT NULL,
    size INTEGER AS (length(CAST(body AS BLOB)) + ${ROW_OVERHEAD}) STORED
  ) STRICT;
  CREATE INDEX result_of_check ON result (check_id, seq);
  CREATE INDEX repeated_result ON result (seq) WHERE is_change = 0;
  CREATE TABLE check_state (
    check_id TEXT PRIMARY KEY,
    observed_ms INTEGER NOT NULL,
    status TEXT NOT NULL,
    exit_code INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE rejected (
    event_id TEXT PRIMARY KEY,
    check_id TEXT NOT NULL,
    body TEXT NOT NULL,
    reason TEXT NOT NULL,
    rejected_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE extent (one INTEGER PRIMARY KEY CHECK (one = 1), results INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
  INSERT INTO extent VALUES (1, 0, 0);
  CREATE TRIGGER result_added AFTER INSERT ON result BEGIN
    UPDATE extent SET results = results + 1, bytes = bytes + NEW.size;
  END;
  CREATE TRIGGER result_removed AFTER DELETE ON result BEGIN
    UPDATE extent SET results = results - 1, bytes = bytes - OLD.size;
  END;
  PRAGMA user_version = ${SCHEMA_VERSION};
`

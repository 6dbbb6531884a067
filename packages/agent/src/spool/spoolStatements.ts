/** Rejected results are kept for people to look at; older ones make room. */
const REJECTED_KEPT = 1_000

/** Every statement of the spool, by name. */
export const STATEMENTS = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  state: "SELECT observed_ms, status, exit_code FROM check_state WHERE check_id = ?",
  states: "SELECT check_id, observed_ms, status, exit_code FROM check_state",
  setState: "INSERT OR REPLACE INTO check_state VALUES (?, ?, ?, ?)",
  lastTwo: "SELECT seq, status, exit_code FROM result WHERE check_id = ? ORDER BY seq DESC LIMIT 2",
  add: `INSERT INTO result (event_id, check_id, observed_ms, status, exit_code, is_change, body)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
  redate: `UPDATE result SET observed_ms = ?, body = json_set(body, '$.observed_at', ?)
        WHERE observed_ms > ?`,
  remove: "DELETE FROM result WHERE seq = ?",
  removeSent: "DELETE FROM result WHERE seq <= ?",
  reject: "INSERT OR REPLACE INTO rejected VALUES (?, ?, ?, ?, ?)",
  forgetRejected: `DELETE FROM rejected WHERE event_id NOT IN
        (SELECT event_id FROM rejected ORDER BY rejected_ms DESC LIMIT ${REJECTED_KEPT})`,
  rejected: "SELECT event_id, check_id, body, reason, rejected_ms FROM rejected ORDER BY rejected_ms DESC",
  oldest: "SELECT seq, event_id, check_id, observed_ms, body FROM result WHERE seq > ? ORDER BY seq LIMIT ?",
  hasChange: "SELECT 1 AS found FROM result WHERE is_change = 1 AND seq > ? LIMIT 1",
  last: "SELECT max(seq) AS seq FROM result",
  extent: "SELECT results, bytes FROM extent",
  dropRepeats: `DELETE FROM result WHERE seq IN
        (SELECT seq FROM result WHERE is_change = 0 ORDER BY seq LIMIT ?)`,
  dropOldest: "DELETE FROM result WHERE seq IN (SELECT seq FROM result ORDER BY seq LIMIT ?)",
  dropAged: "DELETE FROM result WHERE seq <= ? AND is_change = ?",
  note: "SELECT value FROM note WHERE name = ?",
  notes: "SELECT name, value FROM note",
  forgetNote: "DELETE FROM note WHERE name = ?",
  setNote: "INSERT OR REPLACE INTO note VALUES (?, ?)",
  count: `INSERT INTO note VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + CAST(excluded.value AS INTEGER) AS TEXT)`,
  dataVersion: "PRAGMA data_version",
} as const

/**
 * The columns of lists as CSV: fields of the API's items, and `a.b` for the field `b` of the field `a`. Those of a
 * feature stand in its folder.
 */
export const csvColumns = {
  agents:
    "agent_id hostname status admission_state rotation_pending key_fingerprint last_seen_at features labels title",
  audit: "id at actor via action subjects parameters request_id",
  availability:
    "agent_id check_id from to percent seconds.ok seconds.warning seconds.critical seconds.unknown seconds.planned seconds.no_data seconds.late",
  checks:
    "agent_id check_id status last_observed_at exit_code incident_key summary expected_at is_overdue labels state late_severity title held_by",
  incidents:
    "id incident_key state severity agent_id check_id opened_at resolved_at summary acknowledgement.by acknowledgement.at acknowledgement.until acknowledgement.severity acknowledgement.note held_by receivers title resolution.reason resolution.text resolution.by",
  operators: "name role created_at created_by expires_at last_used_at",
  outbox:
    "id notifier state incident_id event_type attempts next_attempt_at last_error updated_at receiver cause held_by held_until incident_key summary rotas why title",
}

/** Spreadsheets compute a cell that begins so. */
const FORMULA = /^\s*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]/u
const SPECIAL = /[",;\t\r\n]/

/** A cell (RFC 4180). A text that a spreadsheet would compute gets an apostrophe before it. */
const cellOf = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  const text = typeof value === "object" ? JSON.stringify(value) : String(value)
  const safe = typeof value === "string" && FORMULA.test(text) ? `'${text}` : text
  return SPECIAL.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const lineOf = (cells: ReadonlyArray<unknown>): string => `${cells.map(cellOf).join(",")}\r\n`

const fieldOf = (item: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (value, name) => (typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined),
      item,
    )

/** The lines of some items as CSV with these columns, after a first line of their names. */
export const csvLines = (named: string) => {
  const columns = named.split(" ")
  return {
    head: lineOf(columns),
    rows: (items: ReadonlyArray<unknown>): string =>
      items.map((item) => lineOf(columns.map((column) => fieldOf(item, column)))).join(""),
  }
}

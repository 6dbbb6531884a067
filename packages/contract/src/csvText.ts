/** The columns of the lists that the console exports. */
export const exportedColumns = {
  agents:
    "agent_id hostname status admission_state rotation_pending key_fingerprint last_seen_at features labels",
  audit: "id at actor via action subjects parameters request_id",
  checks:
    "agent_id check_id status last_observed_at exit_code incident_key summary expected_at is_overdue labels",
  incidents:
    "id incident_key state severity agent_id check_id opened_at resolved_at summary acknowledgement.by acknowledgement.at acknowledgement.until acknowledgement.severity acknowledgement.note held_by receivers",
  outbox:
    "id notifier state incident_id event_type attempts next_attempt_at last_error updated_at receiver cause held_by held_until incident_key summary rotas why",
  silences: "id state matchers starts_at ends_at comment created_by created_at",
}

/** The columns of lists as CSV: fields of the API's items, and `a.b` for the field `b` of the field `a`. */
export const csvColumns = {
  ...exportedColumns,
  announcements: "id page state kind title text lines starts_at ends_at updates created_by created_at",
  availability:
    "agent_id check_id from to percent seconds.ok seconds.warning seconds.critical seconds.unknown seconds.planned seconds.no_data",
  enrolments: "id state agent_id uses used expires_at created_at created_by",
  integrations:
    "name kind options created_at created_by is_closed last_request_at last_refusal sources checks max_checks overdue awaited_watchdog",
  numbers: "name unit at count min max mean last",
  operators: "name role created_at created_by expires_at last_used_at",
  sessions: "id name role created_at expires_at",
  shadow: "receiver event_type cause count",
  watches:
    "name every confirm http tcp tls dns is_of_policy is_paused paused_until status last unconfirmed next_probe_at created_at created_by",
}
export type CsvName = keyof typeof csvColumns

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

/** The lines of some items with these columns, after a first line of their names. */
export const linesWith = (named: string) => {
  const columns = named.split(" ")
  return {
    head: lineOf(columns),
    rows: (items: ReadonlyArray<unknown>): string =>
      items.map((item) => lineOf(columns.map((column) => fieldOf(item, column)))).join(""),
  }
}

/** The lines of some items as a list's answer has them. */
export const csvLines = (name: CsvName) => linesWith(csvColumns[name])

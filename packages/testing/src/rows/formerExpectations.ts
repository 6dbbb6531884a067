/** Rows of `expectation` as the first migration made them, of every kind and of several kinds at once. */
interface FormerExpectation {
  readonly check: string
  readonly origin?: "policy"
  readonly next?: number
  readonly incident?: string
  readonly terms?: object
  readonly labels?: object
  readonly labelledAt?: number
}

const CENTURY = 3_155_760_000_000
const DAILY = { after_millis: 90_000_000, every_millis: 86_400_000, severity: "critical" }
const declared = { ...DAILY, notifications_enabled: true }
const leased = {
  after_millis: 240_000,
  severity: "unknown",
  notifications_enabled: true,
  lease_millis: 240_000,
}
const running = { after_millis: CENTURY, severity: "unknown", notifications_enabled: true }
const labels = { team: "db" }
const labelled = { labels, labelledAt: 4 }

const starts = [
  { rid: "r", at: 2 },
  { rid: "", at: 3 },
]

const ROWS: ReadonlyArray<FormerExpectation> = [
  { check: "declared", next: 9, terms: declared },
  { check: "overdue", incident: "i", terms: declared, ...labelled },
  { check: "by policy", origin: "policy", next: 9, terms: declared },
  { check: "labels alone", ...labelled },
  { check: "firing", next: 9, terms: { ...leased, source: "http://a" }, ...labelled },
  { check: "as last heard", next: 9, incident: "i", terms: { ...leased, source: "" } },
  { check: "resolved", next: 9, terms: { ...running, source: "http://a" } },
  {
    check: "never forgotten",
    next: 1_800_000_000_000_000 + 1_000 * CENTURY,
    terms: { ...running, source: "http://a" },
  },
  { check: "resolved and labelled", next: 9, terms: { ...running, source: "http://a" }, ...labelled },
  { check: "running", next: 9, terms: { ...running, starts } },
  { check: "running too long", incident: "i", terms: { ...running, starts, log: "text" }, ...labelled },
  { check: "running and declared", next: 9, terms: { ...declared, starts, log: "text" } },
  { check: "log alone", next: 9, terms: { ...running, log: "text" } },
  { check: "log and labels", next: 9, terms: { ...running, log: "text" }, ...labelled },
]

const text = (value: string | undefined): string => (value === undefined ? "NULL" : `'${value}'`)
const json = (value: object | undefined): string => text(value && JSON.stringify(value))

/** The registration of all these rows. */
export const REGISTRATION = "00000000-0000-4000-8000-000000000001"

/** Inserts the rows, in both databases. */
export const INSERT_FORMER_EXPECTATIONS = `INSERT INTO expectation
  (agent_id, check_id, registration_id, origin, expected_from, next_evaluation_at, incident_id, terms, labels, labelled_at)
  VALUES ${ROWS.map(
    ({ check, incident, labelledAt, labels: own, next, origin = "agent", terms }) =>
      `('a', '${check}', '${REGISTRATION}', '${origin}', 1, ${next ?? "NULL"}, ${text(incident)}, ${json(terms)}, ${json(own)}, ${labelledAt ?? "NULL"})`,
  ).join(", ")}`

const { lease_millis, ...leaseTerms } = leased
const ofRun = { after_millis: 3_600_000, severity: "unknown", notifications_enabled: true }
const running_since = 2n

/** The same as the present tables have it, by check: only values that are there. */
export const PRESENT_EXPECTATIONS = {
  check_label: Object.fromEntries(
    ROWS.filter((row) => row.labels !== undefined).map(({ check }) => [check, { labels, labelled_at: 4n }]),
  ),
  expectation: {
    declared: { origin: "agent", next_evaluation_at: 9n, terms: declared },
    overdue: { origin: "agent", incident_id: "i", terms: declared },
    "by policy": { origin: "policy", next_evaluation_at: 9n, terms: declared },
    firing: { origin: "alert", terms: leaseTerms },
    "as last heard": { origin: "alert", incident_id: "i", terms: leaseTerms },
    running: { origin: "run", next_evaluation_at: 9n, terms: ofRun, running_since },
    "running too long": {
      origin: "run",
      incident_id: "i",
      terms: ofRun,
      running_since,
    },
    "running and declared": { origin: "agent", next_evaluation_at: 9n, terms: declared, running_since },
  },
  job_run: {
    running: { starts },
    "running too long": { starts, log: "text" },
    "running and declared": { starts, log: "text" },
    "log alone": { starts: [], log: "text" },
    "log and labels": { starts: [], log: "text" },
  },
  reported_alert: {
    firing: { source: "http://a", lease_millis, next_evaluation_at: 9n },
    "as last heard": { source: "", lease_millis, next_evaluation_at: 9n },
    resolved: { source: "http://a", next_evaluation_at: 9n },
    "never forgotten": { source: "http://a", next_evaluation_at: 1n },
    "resolved and labelled": { source: "http://a", next_evaluation_at: 9n },
  },
}

const ALIKE = new Set(["agent_id", "check_id", "expected_from", "registration_id"])

/** Rows of tables by their check, without what all have alike. */
export const byCheck = (
  rows: ReadonlyArray<{ readonly check_id: string }>,
): Readonly<Record<string, object>> =>
  Object.fromEntries(
    rows.map((row) => {
      const own = Object.entries(row).filter(([name, value]) => value !== undefined && !ALIKE.has(name))
      return [row.check_id, Object.fromEntries(own)]
    }),
  )

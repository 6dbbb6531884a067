/** Tokens and keys that are shown once end alike. */
export const SECRET = `${"0123456789".repeat(4)}abc`
/** A request body or an answer as it may be on the wire, after a sentence that says when. */
export type Example = readonly [summary: string, value: unknown]

/** Examples of one body by names that are valid in a component's key. */
export type Examples = Readonly<Record<string, Example>>

export interface DocumentedOperation {
  readonly summary: string
  readonly description: string
  /** Examples of parameters, other than ids of agents, checks and operators. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly request?: Examples
  readonly success: Examples
  /** The answers of one status, where an operation has several. */
  readonly byStatus?: Readonly<Record<number, Examples>>
  /** Header fields of a success beside those of every answer, by their names. */
  readonly headers?: Readonly<Record<string, object>>
}

/** Operations by the names of their endpoints. */
export type Operations = Readonly<Record<string, DocumentedOperation>>

/** Operations under a name. One of several tags of a name has their description. */
export type Tag = readonly [name: string, description: string | undefined, operations: Operations]

/** The only example of a body, under its name. */
export const example = (name: string, summary: string, value: unknown): Examples => ({
  [name]: [summary, value],
})

export const counted = (summary: string, count: number) => ({
  success: { done: [summary, { count }] } as const,
})

export const lastPage = (item: object, summary = "The only page") => ({
  success: { page: [summary, { items: [item], next_cursor: null, prev_cursor: null }] } as const,
})

// One story for all examples, as it is on the wire: the disk of web-01 filled up on a January morning,
// operators were notified, and it was repaired. Tests decode each piece by its schema.

export const REQUEST_ID = "019c137f-2a80-7c3d-8e21-5b6f70d1a94e"
export const INCIDENT_ID = "019c137e-9f10-7b44-a1c2-0d3e4f5a6b7c"
export const OUTBOX_ID = "019c137e-9f11-7f0a-9b8c-7d6e5f4a3b2c"

const DISK = { agent_id: "web-01", check_id: "disk" }
const OUTPUT = "DISK CRITICAL - / is 97% full"
const OBSERVED_AT = "2026-01-31T08:29:58.120Z"
export const RECEIVED_AT = "2026-01-31T08:29:58.903Z"

export const HEARTBEAT = {
  agent_id: "web-01",
  observed_at: "2026-01-31T08:30:00Z",
  hostname: "web-01.example.org",
  features: { push: true, metrics: false },
  labels: { role: "web", service_agent_version: "1.4.2" },
}

export const AGENT = {
  agent_id: "web-01",
  hostname: HEARTBEAT.hostname,
  status: "alive",
  admission_state: "accepted",
  rotation_pending: false,
  key_fingerprint: "9f86d081884c7d65",
  last_seen_at: "2026-01-31T08:30:00.412Z",
  features: HEARTBEAT.features,
  labels: HEARTBEAT.labels,
}

export const FULL_DISK = {
  event_id: "019c137e-9e00-7a51-8f3c-2d4b6a8c0e1f",
  check_id: "disk",
  observed_at: OBSERVED_AT,
  status: "critical",
  exit_code: 2,
  duration_ms: 31,
  output: OUTPUT,
}

export const STORED_EVENT = {
  ...FULL_DISK,
  output_truncated: false,
  notifications_enabled: true,
  agent_id: "web-01",
  received_at: RECEIVED_AT,
}

export const CHECK_STATE = {
  ...DISK,
  status: "critical",
  last_observed_at: OBSERVED_AT,
  exit_code: 2,
  summary: OUTPUT,
}

export const OPEN_INCIDENT = {
  id: INCIDENT_ID,
  incident_key: "web-01/disk",
  state: "open",
  severity: "critical",
  ...DISK,
  opened_at: RECEIVED_AT,
  resolved_at: null,
  summary: OUTPUT,
}

export const MEMBER = {
  ...DISK,
  severity: "critical",
  summary: OUTPUT,
  joined_at: RECEIVED_AT,
  left_at: null,
  labels: { team: "db" },
  title: "Disk of the shop",
}

export const OUTBOX_ITEM = {
  id: OUTBOX_ID,
  notifier: "webhook",
  state: "retry",
  incident_id: INCIDENT_ID,
  event_type: "firing",
  attempts: 1,
  next_attempt_at: "2026-01-31T08:30:04.120Z",
  last_error: "The receiver answered 503 (Service Unavailable).",
  updated_at: "2026-01-31T08:29:59.270Z",
}

/** A notification of the first firing, as /ops/v1 shows it. */
export const OPENED_ITEM = {
  ...OUTBOX_ITEM,
  receiver: "webhook",
  cause: "opened",
  held_by: [],
  held_until: null,
  incident_key: "web-01/disk",
  title: null,
  summary: OUTPUT,
}

export const SUMMARY = {
  agents_online: 1,
  agents_offline: 0,
  checks_ok: 1,
  checks_warning: 0,
  checks_critical: 1,
  checks_unknown: 0,
  open_incidents: 1,
}

export const EXPECTED_STATE = {
  ...CHECK_STATE,
  state: "critical",
  expected_at: "2026-01-31T08:32:28.903Z",
  late_severity: "unknown",
  is_overdue: false,
  labels: { team: "db" },
  title: "Disk of the shop",
  held_by: [],
}

export const EXPLANATIONS: Examples = {
  critical: [
    "A check that is critical",
    {
      agent: { ...AGENT, title: null },
      check: EXPECTED_STATE,
      reasons: [
        "The newest result, observed at 2026-01-31T08:29:58.120Z, reported critical with exit code 2.",
        "It differed from the one before and was stored as a change.",
        "It is due by 2026-01-31 08:32:28 UTC.",
        "It is a member of an open incident, because its status is not ok.",
      ],
      received_at: RECEIVED_AT,
      age_seconds: 62.5,
      skew_seconds: 0.783,
      last_change: STORED_EVENT,
      incident: OPEN_INCIDENT,
    },
  ],
  begun: [
    "A job whose first run has not ended in time",
    {
      agent: { ...AGENT, title: null },
      check: {
        agent_id: "web-01",
        check_id: "backup",
        state: "late",
        status: null,
        last_observed_at: null,
        expected_at: "2026-01-31T08:10:00.000Z",
        late_severity: "critical",
        is_overdue: true,
        labels: {},
        title: null,
        held_by: [],
      },
      reasons: [
        "It is late: began 2026-01-31 08:00:00 UTC and has not ended within 10m, expected by 2026-01-31 08:10:00 UTC.",
      ],
      received_at: null,
      age_seconds: null,
      skew_seconds: null,
      last_change: null,
      incident: null,
    },
  ],
}

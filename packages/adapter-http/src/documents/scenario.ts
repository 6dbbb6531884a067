/**
 * One story for all examples, as it is on the wire: the disk of web-01 filled up on a January
 * morning, operators were notified, and it was repaired. Tests decode each piece by its schema.
 */

export const REQUEST_ID = "019c137f-2a80-7c3d-8e21-5b6f70d1a94e"
export const INCIDENT_ID = "019c137e-9f10-7b44-a1c2-0d3e4f5a6b7c"
export const OUTBOX_ID = "019c137e-9f11-7f0a-9b8c-7d6e5f4a3b2c"
const FINGERPRINT = "9f86d081884c7d65"

export const HEARTBEAT = {
  agent_id: "web-01",
  observed_at: "2026-01-31T08:30:00Z",
  hostname: "web-01.example.org",
  features: { push: true, metrics: false },
  labels: { role: "web", service_agent_version: "1.4.2" },
}

export const AGENT = {
  agent_id: "web-01",
  hostname: "web-01.example.org",
  status: "alive",
  admission_state: "accepted",
  rotation_pending: false,
  key_fingerprint: FINGERPRINT,
  last_seen_at: "2026-01-31T08:30:00.412Z",
  features: { push: true, metrics: false },
  labels: { role: "web", service_agent_version: "1.4.2" },
}

export const PENDING_AGENT = {
  agent_id: "db-02",
  hostname: "db-02.example.org",
  status: "alive",
  admission_state: "pending",
  rotation_pending: false,
  key_fingerprint: "60303ae22b998861",
  last_seen_at: "2026-01-31T08:29:41.077Z",
  features: { push: true, metrics: false },
}

export const BLACKLIST_ITEM = {
  id: "0b1c8e5a7f3d42968c1e5b7a9d0f2c4e6a8b1d3f5c7e9a0b2d4f6a8c0e1b3d5f",
  key_fingerprint: "fd61a03af4f77d87",
  agent_id: "guest-17",
  hostname: "unknown.example.org",
  created_at: "2026-01-30T16:05:12.480Z",
  last_seen_at: "2026-01-31T08:12:03.951Z",
}

export const FULL_DISK = {
  event_id: "019c137e-9e00-7a51-8f3c-2d4b6a8c0e1f",
  check_id: "disk",
  observed_at: "2026-01-31T08:29:58.120Z",
  status: "critical",
  exit_code: 2,
  duration_ms: 31,
  output: "DISK CRITICAL - / is 97% full",
}

export const STEADY_LOAD = {
  event_id: "019c137e-9e00-7a52-9b17-4c5d6e7f8091",
  check_id: "load",
  observed_at: "2026-01-31T08:29:58.344Z",
  status: "ok",
  exit_code: 0,
  duration_ms: 12,
  output: "LOAD OK - 0.42",
}

export const STORED_EVENT = {
  ...FULL_DISK,
  output_truncated: false,
  notifications_enabled: true,
  agent_id: "web-01",
  received_at: "2026-01-31T08:29:58.903Z",
}

export const CHECK_STATE = {
  agent_id: "web-01",
  check_id: "disk",
  status: "critical",
  last_observed_at: "2026-01-31T08:29:58.120Z",
  exit_code: 2,
  summary: "DISK CRITICAL - / is 97% full",
}

export const OPEN_INCIDENT = {
  id: INCIDENT_ID,
  incident_key: "web-01/disk",
  state: "open",
  severity: "critical",
  agent_id: "web-01",
  check_id: "disk",
  opened_at: "2026-01-31T08:29:58.903Z",
  resolved_at: null,
  summary: "DISK CRITICAL - / is 97% full",
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

export const SILENCE_ID = "01941f2a-7d3c-7e4b-9c1d-2f3a4b5c6d7e"

export const SILENCE = {
  id: SILENCE_ID,
  state: "active",
  matchers: [{ field: "label:team", op: "=", value: "db" }],
  starts_at: "2026-01-31T08:40:00.000Z",
  ends_at: "2026-01-31T10:40:00.000Z",
  comment: "New disks for the databases",
  created_by: "ann",
  created_at: "2026-01-31T08:40:00.000Z",
}

/** Opaque to clients; tests check only its length and characters. */
export const CURSOR = "eyJ2IjoxLCJsIjoiYWdlbnRzIiwicCI6WyJ3ZWItMDEiXX0"

export const ACKNOWLEDGEMENT = {
  by: "operator",
  note: "Disk ordered",
  at: "2026-01-31T08:34:10.550Z",
  until: "2026-01-31T10:34:10.550Z",
  severity: "critical",
}

export const NOTE = {
  at: "2026-01-31T08:51:02.004Z",
  action: "noted",
  by: "operator",
  text: "The disk arrives at noon",
}
/** A small policy. */
export const POLICY = {
  receivers: { chat: { kind: "messenger", url_file: "/run/secrets/chat" } },
  routes: [{ match: ["label:team = db"], after: "1m", to: ["chat"] }],
  windows: [
    {
      name: "backup",
      cron: "0 2 * * 0",
      tz: "Europe/Berlin",
      for: "4h",
      match: ["check_id glob disk*"],
      comment: "weekly backup",
    },
  ],
} as const

export const HELD_INCIDENT = { ...OPEN_INCIDENT, acknowledgement: ACKNOWLEDGEMENT, held_by: ["ack"] }

export const SENT_ITEM = {
  ...OUTBOX_ITEM,
  receiver: "webhook",
  cause: "opened",
  held_by: [],
  held_until: null,
  incident_key: "web-01/disk",
  summary: "DISK CRITICAL - / is 97% full",
  why: "waits for its next attempt",
}

export const HELD_ITEM = {
  ...OUTBOX_ITEM,
  state: "pending",
  attempts: 0,
  next_attempt_at: null,
  last_error: null,
  updated_at: "2026-01-31T08:34:11.204Z",
  receiver: "webhook",
  cause: "opened",
  held_by: ["ack"],
  held_until: ACKNOWLEDGEMENT.until,
  incident_key: "web-01/disk",
  summary: "DISK CRITICAL - / is 97% full",
}

/** A stored version of a policy. */
export const POLICY_VERSION = {
  version: 3,
  hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  applied_at: "2026-01-30T14:20:05.000Z",
  applied_by: "ann",
  text: "receivers:\n  chat: { kind: messenger, url_file: chat }\nroutes:\n  - { to: [chat] }\n",
}

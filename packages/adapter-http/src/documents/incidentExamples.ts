import { counted, lastPage, type OperationExamples } from "./OperationExamples.ts"
import * as scenario from "./scenario.ts"

/** Examples of the operations on silences. */
export const silenceExamples: Readonly<Record<string, OperationExamples>> = {
  listSilences: lastPage(scenario.SILENCE),
  getSilence: {
    parameters: { id: scenario.SILENCE_ID },
    success: { active: { summary: "A silence in force", value: scenario.SILENCE } },
  },
  createSilence: {
    request: {
      team: {
        summary: "All agents of a team, for two hours",
        value: { matchers: scenario.SILENCE.matchers, for: "2h", comment: scenario.SILENCE.comment },
      },
      confirmed: {
        summary: "The disks of every agent",
        value: {
          matchers: [{ field: "check_id", op: "glob", value: "disk*" }],
          for: "30m",
          comment: "New disks everywhere",
          confirm: true,
        },
      },
    },
    success: { created: { summary: "Created", value: scenario.SILENCE } },
    byStatus: {
      200: {
        previewed: {
          summary: "With dry_run=true",
          value: {
            agents: 4,
            open_incidents: 1,
            held_now: 0,
            needs_confirm: false,
            sample: [scenario.OPEN_INCIDENT],
          },
        },
      },
    },
  },
  changeSilence: {
    parameters: { id: scenario.SILENCE_ID },
    request: {
      comment: { summary: "Another comment", value: { comment: "Disks arrive at noon" } },
    },
    success: { changed: { summary: "The silence as changed", value: scenario.SILENCE } },
  },
  expireSilence: { parameters: { id: scenario.SILENCE_ID }, ...counted("The silence has ended", 1) },
}

const incidentDetail = {
  incident: scenario.OPEN_INCIDENT,
  members: [
    {
      agent_id: "web-01",
      check_id: "disk",
      severity: "critical",
      summary: "DISK CRITICAL - / is 97% full",
      joined_at: "2026-01-31T08:29:58.903Z",
      left_at: null,
      labels: { team: "db" },
    },
  ],
  timeline: [
    {
      at: "2026-01-31T08:29:58.903Z",
      change: "joined",
      agent_id: "web-01",
      check_id: "disk",
      severity: "critical",
      incident_severity: "critical",
    },
  ],
  timeline_left_out: 0,
  acknowledgement: null,
  log: [],
  held_by: [],
  runbook: { url: "https://wiki.example.org/disk", note: "Disks" },
  notified: [{ receiver: "chat", cause: "opened", severity: "critical", at: "2026-01-31T08:29:59.204Z" }],
  next: [
    {
      receiver: "pager",
      cause: "escalation",
      due_at: "2026-01-31T08:44:58.903Z",
      holds: [{ hold: "window:backup", until: "2026-01-31T09:00:00.000Z" }],
    },
  ],
  deliveries: [scenario.SENT_ITEM],
}

/** Examples of what operators read of incidents and do about them. */
export const incidentExamples: Readonly<Record<string, OperationExamples>> = {
  listAvailability: lastPage(
    {
      agent_id: scenario.CHECK_STATE.agent_id,
      check_id: scenario.CHECK_STATE.check_id,
      from: "2026-01-30T08:30:00.000Z",
      to: "2026-01-31T08:30:00.000Z",
      seconds: { ok: 85_500, warning: 0, critical: 300, unknown: 0, planned: 600, no_data: 0 },
      percent: 99.65,
    },
    "A check that failed for five minutes, and for ten more in a maintenance window",
  ),
  getOverview: {
    success: {
      counts: {
        summary: "An acknowledged incident, and a key that waits",
        value: {
          agents_online: 1,
          agents_offline: 0,
          checks_ok: 1,
          checks_warning: 0,
          checks_critical: 1,
          checks_unknown: 0,
          open_incidents: 1,
          generated_at: "2026-01-31T08:31:01.403Z",
          incidents: { critical: 1, unknown: 0, warning: 0 },
          acknowledged_incidents: 1,
          waiting_keys: 1,
          dead_letters: 0,
        },
      },
    },
  },
  listHeldOutbox: lastPage(scenario.HELD_ITEM, "A notification that an acknowledgement holds"),
  listHeldIncidents: lastPage(scenario.HELD_INCIDENT, "An acknowledged incident"),
  showIncident: {
    parameters: { id: scenario.INCIDENT_ID },
    success: { open: { summary: "An open incident of one check", value: incidentDetail } },
  },
  acknowledge: {
    parameters: { id: scenario.INCIDENT_ID },
    request: {
      default: { summary: "For the default time", value: {} },
      hours: {
        summary: "For two hours, with a note",
        value: { note: "Disk ordered", for: "2h", severity: "critical" },
      },
    },
    success: { acknowledged: { summary: "Acknowledged", value: scenario.ACKNOWLEDGEMENT } },
  },
  withdrawAcknowledgement: {
    parameters: { id: scenario.INCIDENT_ID },
    ...counted("It is no longer acknowledged", 1),
  },
  acknowledgeAll: {
    request: {
      one: { summary: "One incident, for a day", value: { ids: [scenario.INCIDENT_ID], for: "1d" } },
    },
    success: {
      acknowledged: {
        summary: "Acknowledged",
        value: { items: [{ id: scenario.INCIDENT_ID, outcome: "acknowledged" }] },
      },
    },
  },
  noteIncident: {
    parameters: { id: scenario.INCIDENT_ID },
    request: { note: { summary: "A note", value: { text: scenario.NOTE.text } } },
    success: { noted: { summary: "Noted", value: scenario.NOTE } },
  },
}

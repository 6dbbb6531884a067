import * as story from "./examples.ts"
import { counted, example, lastPage, type Operations } from "./examples.ts"

const incidentId = { id: story.INCIDENT_ID }
const outboxId = { id: story.OUTBOX_ID }

const ACKNOWLEDGEMENT = {
  by: "operator",
  note: "Disk ordered",
  at: "2026-01-31T08:34:10.550Z",
  until: "2026-01-31T10:34:10.550Z",
  severity: "critical",
}

const TITLED = { ...story.OPEN_INCIDENT, title: "Disk of the shop", resolution: null }

export const notifications: Operations = {
  replay: {
    summary: "Send a failed notification again, with the same id",
    description:
      "Replays a failed notification: attempts and age start over, and its id stays, so that receivers can deduplicate. Answers 409 if the notification has not failed, or if it is a firing whose incident has resolved.",
    parameters: outboxId,
    ...counted("It is pending again", 1),
  },
  release: {
    summary: "Send a held notification now",
    description:
      "Sends a held firing now, with the incident's present severity and summary. Nothing holds it again. Answers 409 if the notification is not held.",
    parameters: outboxId,
    ...counted("It is sent now", 1),
  },
  listHeldOutbox: {
    summary: "List notifications with what withholds them",
    description:
      "Lists notifications as v1 does, each with its receiver, its cause, and what withholds it now.",
    ...lastPage(
      {
        ...story.OPENED_ITEM,
        state: "pending",
        attempts: 0,
        next_attempt_at: null,
        last_error: null,
        updated_at: "2026-01-31T08:34:11.204Z",
        held_by: ["ack"],
        held_until: ACKNOWLEDGEMENT.until,
      },
      "A notification that an acknowledgement holds",
    ),
  },
}

export const agents: Operations = {
  getOverview: {
    summary: "Count what there is, and what waits for people",
    description:
      "Counts agents, checks and open incidents as v1 does, checks by state, incidents by severity, waiting keys and dead letters.",
    success: example("counts", "An acknowledged incident, and a key that waits", {
      ...story.SUMMARY,
      generated_at: "2026-01-31T08:31:01.403Z",
      incidents: { critical: 1, unknown: 0, warning: 0 },
      states: { ok: 1, warning: 0, critical: 1, unknown: 0, late: 0, withdrawn: 0 },
      integration_agents: 0,
      acknowledged_incidents: 1,
      waiting_keys: 1,
      dead_letters: 0,
    }),
  },
  findAgents: {
    summary: "Find agents by words, status or a waiting key",
    description: "Lists agents as v1 does: those that have the words, the status, or a key that waits.",
    ...lastPage({ ...story.AGENT, title: "Web server" }, "An agent that has the words"),
  },
}

export const checks: Operations = {
  resetClock: {
    summary: "Release a check that a clock in the future froze",
    description:
      "Releases a check whose agent had a clock in the future, so that its results count as late: last_observed_at becomes the moment at which its newest result arrived.",
    ...counted("The check is released", 1),
  },
  titleCheck: {
    summary: "Give a check a title, or take it back",
    description:
      "Names a check for people, in messages and on pages; its ids stay. null takes the title back, so that its label title counts. An equal title changes nothing.",
    request: { title: ["A title", { title: "Disk of the shop" }] },
    ...counted("The check has the title", 1),
  },
  titleAgent: {
    summary: "Give an agent a title, or take it back",
    description:
      "Names an agent for people, in messages and on pages; its id stays. null takes the title back, so that that of its integration, or its label title, counts. An equal title changes nothing.",
    request: { title: ["A title", { title: "Database of the shop" }] },
    ...counted("The agent has the title", 1),
  },
  removeCheck: {
    summary: "Delete a check that its agent no longer runs, with its history",
    description: "Deletes a check that its agent no longer runs, with its history. It leaves its incident.",
    ...counted("The check is deleted", 1),
  },
  explain: {
    summary: "Explain why a check is in its state",
    description:
      "Explains the state of a check: its newest result and time of arrival, what it is to meet or has missed, the agent's clock skew, the last change and the incident. A check that never reported has null for its result.",
    parameters: { agent_id: "web-01", check_id: "disk" },
    success: story.EXPLANATIONS,
  },
  listExpectedChecks: {
    summary: "List checks with when they must report",
    description:
      "Lists checks as v1 does, with the state of each and the time by which it must report next. With state=late it lists late checks only, those included that never reported.",
    ...lastPage(story.EXPECTED_STATE, "A check that must report within the next minutes"),
  },
  listAvailability: {
    summary: "List how long checks were ok, and how long not",
    description: "Lists checks with their seconds in each state during a span of at most 400 days.",
    ...lastPage(
      {
        agent_id: "web-01",
        check_id: "disk",
        from: "2026-01-30T08:30:00.000Z",
        to: "2026-01-31T08:30:00.000Z",
        seconds: { ok: 85_500, warning: 0, critical: 300, unknown: 0, late: 0, planned: 600, no_data: 0 },
        percent: 99.65,
      },
      "A check that failed for five minutes, and for ten more in a maintenance window",
    ),
  },
}

const NOTE = {
  at: "2026-01-31T08:51:02.004Z",
  action: "noted",
  by: "operator",
  text: "The disk arrives at noon",
}

const DETAIL = {
  incident: TITLED,
  members: [story.MEMBER],
  timeline: [
    {
      at: story.RECEIVED_AT,
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
  silences: [],
  silences_left_out: 0,
  deliveries: [{ ...story.OPENED_ITEM, why: "waits for its next attempt" }],
}

export const incidents: Operations = {
  acknowledge: {
    summary: "Acknowledge an incident",
    description:
      "Acknowledges an open incident, or replaces its acknowledgement. Until it ends, Tocsin sends no firing of the incident that has not been attempted yet. An incident that becomes worse than acknowledged notifies everyone again. Answers 409 if the incident has resolved, or has another severity than the request names.",
    parameters: incidentId,
    request: {
      default: ["For the default time", {}],
      hours: ["For two hours, with a note", { note: "Disk ordered", for: "2h", severity: "critical" }],
    },
    success: { acknowledged: ["Acknowledged", ACKNOWLEDGEMENT] },
  },
  withdrawAcknowledgement: {
    summary: "Withdraw the acknowledgement of an incident",
    description:
      "Withdraws the acknowledgement of an incident. What it held is sent. Without one the count is 0.",
    parameters: incidentId,
    ...counted("It is no longer acknowledged", 1),
  },
  acknowledgeAll: {
    summary: "Acknowledge several incidents",
    description: "Acknowledges up to 200 incidents, each on its own, and says what became of each.",
    request: { one: ["One incident, for a day", { ids: [story.INCIDENT_ID], for: "1d" }] },
    success: { acknowledged: ["Acknowledged", { items: [{ ...incidentId, outcome: "acknowledged" }] }] },
  },
  noteIncident: {
    summary: "Add a note to an incident",
    description: "Adds a note to the timeline of an incident, open or resolved.",
    parameters: incidentId,
    request: { note: ["A note", { text: NOTE.text }] },
    success: { noted: ["Noted", NOTE] },
  },
  listHeldIncidents: {
    summary: "List incidents with what withholds their firings",
    description:
      "Lists incidents as v1 does, each with its acknowledgement, and with what withholds its firings now. With with_receivers, also with whom it notified.",
    ...lastPage(
      { ...TITLED, acknowledgement: ACKNOWLEDGEMENT, held_by: ["ack"] },
      "An acknowledged incident",
    ),
  },
  showIncident: {
    summary: "Show an incident with its members and timeline",
    description:
      "Shows an incident with its members, what happened to it and what was sent, the worst and the latest, at most 200 of each. States whom it notifies next, when, and what holds that.",
    parameters: incidentId,
    success: { open: ["An open incident of one check", DETAIL] },
  },
  traceIncident: {
    summary: "Trace the decisions about an incident",
    description:
      "Lists the decisions about an incident, oldest first: at each result of a check, action, evaluation, claim and attempt, what Tocsin decided, about which receiver, and by which rule. The last entries are the present and what comes next.",
    parameters: incidentId,
    success: example("held", "A firing that a silence holds", {
      incident_id: story.INCIDENT_ID,
      entries: [
        {
          at: "2026-01-31T09:00:00.000Z",
          event: "next",
          about: "pager",
          decided: "send a firing once nothing holds it",
          rule: "docs/rules.md#mutes",
          because:
            "the first firing of the incident for this receiver; held by window:backup until 2026-01-31T09:00:00.000Z",
        },
      ],
      left_out: 0,
    }),
  },
}

export const liveViews: Operations = {
  stream: {
    summary: "Stream what to fetch again",
    description:
      "Sends server-sent events that name what has changed, by this process or another: at most one a second, and a comment every 15 s. Fetch what you show once the stream has opened, and again whenever it opens anew. The token is checked every 15 s. A process serves 100 streams at most, and a client that names itself two.",
    success: example(
      "usual",
      "The beginning of a stream, and one event",
      `: open\n\ndata: {"topics":["incidents","outbox"],"at":"${story.OPEN_INCIDENT.opened_at}"}\n\n`,
    ),
  },
}

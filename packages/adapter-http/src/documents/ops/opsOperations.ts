import type { OperationText } from "../Documentation.ts"
import * as story from "../story.ts"

const incidentDetail = {
  incident: story.OPEN_INCIDENT,
  members: [
    {
      agent_id: "web-01",
      check_id: "disk",
      severity: "critical",
      summary: "DISK CRITICAL - / is 97% full",
      joined_at: "2026-01-31T08:29:58.903Z",
      left_at: null,
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
  deliveries: [story.OUTBOX_ITEM],
}

const explanation = {
  agent: story.AGENT,
  check: story.CHECK_STATE,
  reasons: [
    "The newest result, observed at 2026-01-31T08:29:58.120Z, reported critical with exit code 2.",
    "It differed from the one before and was stored as a change.",
    "It is a member of an open incident, because its status is not ok.",
  ],
  received_at: "2026-01-31T08:29:58.903Z",
  age_seconds: 62.5,
  skew_seconds: 0.783,
  last_change: story.STORED_EVENT,
  incident: story.OPEN_INCIDENT,
}

/** What operators do beyond the contract. */
export const opsOperations: Readonly<Record<string, OperationText>> = {
  replay: {
    tag: "Notifications",
    description:
      "Replays a failed notification: attempts and age start over, and its id stays, so that receivers can deduplicate. Answers 409 if the notification has not failed, or if it is a firing whose incident has resolved.",
    parameters: {
      id: {
        description: "The id of an outbox item; GET /api/v1/notifiers/outbox?state=failed lists them.",
        example: story.OUTBOX_ID,
      },
    },
    success: { done: { summary: "It is pending again", value: { count: 1 } } },
  },
  testNotifier: {
    tag: "Notifications",
    description: "Sends a test message immediately and reports the receiver's answer. Tocsin stores neither.",
    parameters: { notifier: { description: "A notifier that is configured.", example: "webhook" } },
    success: {
      delivered: {
        summary: "The receiver took it",
        value: { outcome: "delivered", status: 204, error: null },
      },
      refused: {
        summary: "The receiver refused it",
        value: { outcome: "refused", status: 404, error: "the receiver answered 404" },
      },
    },
  },
  resetClock: {
    tag: "Checks",
    description:
      "Releases a check whose agent had a clock in the future, so that its results count as late: last_observed_at becomes the moment at which its newest result arrived.",
    success: { done: { summary: "The check is released", value: { count: 1 } } },
  },
  removeCheck: {
    tag: "Checks",
    description: "Deletes a check that its agent no longer runs, with its history. It leaves its incident.",
    success: { done: { summary: "The check is deleted", value: { count: 1 } } },
  },
  showIncident: {
    tag: "Incidents",
    description:
      "Shows an incident with its members, what happened to it and what was sent, the worst and the latest, at most 200 of each.",
    parameters: { id: { description: "The id of an incident.", example: story.INCIDENT_ID } },
    success: { open: { summary: "An open incident of one check", value: incidentDetail } },
  },
  explain: {
    tag: "Checks",
    description:
      "Explains the state of a check: its newest result and time of arrival, the agent's clock skew, the last change and the incident.",
    parameters: {
      agent_id: { description: "The agent of the check.", example: "web-01" },
      check_id: { description: "The check to explain.", example: "disk" },
    },
    success: { critical: { summary: "A check that is critical", value: explanation } },
  },
}

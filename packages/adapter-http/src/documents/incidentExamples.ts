import { counted, lastPage, type OperationExamples } from "./OperationExamples.ts"
import * as story from "./story.ts"

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
  acts: [],
  held_by: [],
  deliveries: [story.SENT_ITEM],
}

/** Examples of what operators read of incidents and do about them. */
export const incidentExamples: Readonly<Record<string, OperationExamples>> = {
  listHeldIncidents: lastPage(story.HELD_INCIDENT, "An acknowledged incident"),
  showIncident: {
    parameters: { id: story.INCIDENT_ID },
    success: { open: { summary: "An open incident of one check", value: incidentDetail } },
  },
  acknowledge: {
    parameters: { id: story.INCIDENT_ID },
    request: {
      default: { summary: "For the default time", value: {} },
      hours: {
        summary: "For two hours, with a note",
        value: { note: "Disk ordered", for: "2h", severity: "critical" },
      },
    },
    success: { acknowledged: { summary: "Acknowledged", value: story.ACKNOWLEDGEMENT } },
  },
  withdrawAcknowledgement: {
    parameters: { id: story.INCIDENT_ID },
    ...counted("It is no longer acknowledged", 1),
  },
  acknowledgeAll: {
    request: {
      one: { summary: "One incident, for a day", value: { ids: [story.INCIDENT_ID], for: "1d" } },
    },
    success: {
      acknowledged: {
        summary: "Acknowledged",
        value: { items: [{ id: story.INCIDENT_ID, outcome: "acknowledged" }] },
      },
    },
  },
  noteIncident: {
    parameters: { id: story.INCIDENT_ID },
    request: { note: { summary: "A note", value: { text: story.NOTE.text } } },
    success: { noted: { summary: "Noted", value: story.NOTE } },
  },
}

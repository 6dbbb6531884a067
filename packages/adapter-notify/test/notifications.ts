import type { Labels } from "@tocsin/contract/labels/Labels"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { memberRecord } from "@tocsin/testing/records"
import { AgentId, CheckId, IncidentId, IncidentKey, OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { HEARTBEAT } from "@tocsin/core/heart/model/MemberRecord"
import { decideDetails } from "@tocsin/core/heart/notifications/messageDetails"
import type { DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"

/** A moment as the API writes it. */
export const at = (text: string): Instant.Instant => {
  const instant = Instant.parse(text)
  if (instant === undefined) throw new Error(`${text} is not a timestamp`)
  return instant
}

/** A critical incident of one check. */
export const firing: DeliveryAttempt = {
  id: OutboxId.make("0198a5f0-7c1e-7a63-9d55-2f1d6c1b7f02"),
  receiver: "webhook",
  notifier: "webhook",
  event_type: "firing",
  cause: "opened",
  severity: "critical",
  summary: "/var is 97 % full",
  created_at: at("2026-01-31T08:30:00.250Z"),
  age_starts_at: at("2026-01-31T08:30:00.250Z"),
  due_at: at("2026-01-31T08:30:00.250Z"),
  acknowledgement: undefined,
  attempt: 1,
  incident: {
    id: IncidentId.make("0198a5f0-7c1e-7a63-9d55-2f1d6c1b7f01"),
    incident_key: IncidentKey.make("web-1/disk"),
    agent_id: AgentId.make("web-1"),
    check_id: CheckId.make("disk"),
    opener_agent_id: AgentId.make("web-1"),
    opener_check_id: CheckId.make("disk"),
    opened_at: at("2026-01-31T08:30:00.250Z"),
    resolved_at: undefined,
    resolution: undefined,
    summary: "/var is 97 % full",
    members: 1,
  },
}

/** Details of its check, with an output and labels as an agent sends them. */
export const detailsOf = (output: string, labels: Labels, status: CheckStatus = "critical") =>
  decideDetails(
    { member: memberRecord({ incident: "x", agent: "web-1", check: "disk" }), labels, agent: undefined },
    {
      incident_id: firing.incident.id,
      status,
      output,
      changed_at: firing.created_at,
      duration_ms: 250,
      address: SOURCE,
    },
    undefined,
  )

export const SOURCE = "https://prom.example.org/graph?g0.expr=up&g0.tab=1"

/** The same, with details of its check. */
export const detailed: DeliveryAttempt = {
  ...firing,
  details: detailsOf("/var is 97 % full\n3.1 GiB of 94 GiB are free\nlargest: /var/log/app, 61 GiB", {
    mount: "/var",
    team: "shop",
  }),
}

/** The same, resolved twelve minutes later. */
export const resolved: DeliveryAttempt = {
  ...firing,
  id: OutboxId.make("0198a5fb-2b4a-7d0e-8c11-90a7b3f4d503"),
  event_type: "resolved",
  cause: undefined,
  created_at: at("2026-01-31T08:42:10Z"),
  age_starts_at: at("2026-01-31T08:42:10Z"),
  incident: {
    ...firing.incident,
    resolved_at: at("2026-01-31T08:42:10Z"),
    resolution: { reason: "recovered", now: "DISK OK - 41 % full" },
    members: 0,
  },
}

/** An incident of several checks, which the first of them opened. */
export const shared: DeliveryAttempt = {
  ...firing,
  severity: "warning",
  incident: {
    ...firing.incident,
    incident_key: IncidentKey.make("storage <rack 4> & others"),
    agent_id: undefined,
    check_id: undefined,
    members: 5,
  },
}

/** The incident of a silent agent. */
export const silence: DeliveryAttempt = {
  ...firing,
  summary: "no contact with web-1",
  incident: {
    ...firing.incident,
    check_id: HEARTBEAT,
    opener_check_id: HEARTBEAT,
    incident_key: IncidentKey.make("web-1/@heartbeat"),
  },
}

import { CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import type { DeliveryAttempt, Notifier, SendResult } from "@tocsin/core/heart/notifications/Notifiers"
import type { Effect } from "effect"
import { linked } from "../../packages/adapter-notify/test/messages.ts"
import { firing, resolved } from "../../packages/adapter-notify/test/notifications.ts"

const links = { incident: linked.links.incident, acknowledge: undefined }

/** A check with a title, which opened an incident of its own. */
const of = (check: string, title: string, summary: string, one = firing): DeliveryAttempt => ({
  ...one,
  title,
  summary,
  tz: "Europe/Berlin",
  links,
  incident: {
    ...one.incident,
    check_id: CheckId.make(check),
    opener_check_id: CheckId.make(check),
    incident_key: IncidentKey.make(`web-1/${check}`),
  },
})

const queue = of("queue", "Mail queue", "1204 mails wait")
const warning: DeliveryAttempt = {
  ...queue,
  severity: "warning",
  cause: "escalation",
  reason: { since: Number(firing.incident.opened_at - 900_000_000n) },
}
const LATE = "late: nothing since 2026-01-30 02:03:00 CET, expected by 2026-01-31 09:30:00 CET"
const backup = of("backup", "Nightly backup", LATE)
const late = {
  ...backup,
  incident: { ...backup.incident, incident_key: IncidentKey.make("web-1/backup/@overdue") },
}

type Resolution = NonNullable<DeliveryAttempt["incident"]["resolution"]>

const endOf = (fault: DeliveryAttempt, resolution: Resolution): DeliveryAttempt => ({
  ...fault,
  event_type: "resolved",
  cause: undefined,
  reason: undefined,
  incident: { ...fault.incident, resolved_at: resolved.incident.resolved_at, resolution, members: 0 },
})

const recovered = endOf(queue, { reason: "recovered", now: "QUEUE OK - 3 mails wait" })
const reported = endOf(late, {
  reason: "reported",
  status: "critical",
  now: "exit 1: no space left on /mnt/backup",
})
const deleted = endOf(of("disk", "Disk of the old shop", "/var is 97 % full"), {
  reason: "deleted",
  by: "ann",
})
const byHand = endOf(of("ups", "UPS in rack 4", "on battery"), { reason: "resolved", by: "ben" })
const withdrawn = endOf(of("replication", "Replication to Leeds", "37 min behind"), {
  reason: "withdrawn",
  of: "check",
})
const moved = endOf(of("array", "Disk array", "degraded"), {
  reason: "moved",
  to: IncidentKey.make("storage"),
})
const intranet = of("http", "Intranet", "HTTP CRITICAL - 502 Bad Gateway")
const over: DeliveryAttempt = {
  ...endOf(intranet, { reason: "recovered" }),
  event_type: "firing",
  cause: "opened",
}
const closed: DeliveryAttempt = { ...deleted, event_type: "firing", cause: "opened" }

const sent =
  (one: DeliveryAttempt) =>
  ({ send }: Notifier): Effect.Effect<SendResult> =>
    send(one)

const together =
  (...all: ReadonlyArray<DeliveryAttempt>) =>
  ({ send, sendDigest }: Notifier): Effect.Effect<SendResult> =>
    sendDigest?.(all) ?? send(all[0] ?? firing)

/** Messages of each kind. */
export const kinds = {
  critical: sent(linked),
  warning: sent(warning),
  late: sent(late),
  recovered: sent(recovered),
  reported: sent(reported),
  deleted: sent(deleted),
  byHand: sent(byHand),
  withdrawn: sent(withdrawn),
  moved: sent(moved),
  over: sent(over),
  closed: sent(closed),
  digest: together(queue, { ...of("load", "Load", "load average 9.3"), severity: "warning" }, late, over),
  ends: together(recovered, reported, deleted, withdrawn),
} as const

export type Kind = keyof typeof kinds

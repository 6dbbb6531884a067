import type { IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Duration, Effect } from "effect"
import { keepRepeating } from "../../kernel/engine/commits/keepRepeating.ts"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import { acknowledgementFor } from "../model/Acknowledgement.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { Receivers } from "./Receivers.ts"

/** An alarm ends within 15 s, its request included. */
const LOOK_EVERY = Duration.seconds(5)
/** An alarm ends by itself after this time. */
const LASTS = Duration.minutes(30)
/** Services allow few connections of one sender. */
const AT_A_TIME = 2

const INCIDENT_ALONE = { members: 1, changes: 1, log: 1, outbox: 1 }

/** Whether an alarm about an incident has no reason any more. */
const isOver = (incident: IncidentRecord | undefined, now: Instant.Instant): boolean =>
  incident?.state !== "open" ||
  incident.severity !== "critical" ||
  acknowledgementFor(incident, "critical", now) !== undefined

/**
 * Ends the alarms that a receiver repeats until one acknowledges (docs/rules.md#notifiers). Keeps no row: another server,
 * or this one after a restart, ends an alarm once more, which changes nothing.
 */
export const endAlarms = Effect.fnUntraced(function* ({
  isOwner,
  receiver,
}: {
  readonly receiver: NotifierName
  readonly isOwner: Effect.Effect<boolean, unknown>
}) {
  const storage = yield* Storage
  const receivers = yield* Receivers
  /** Messages whose alarm was ended, and when they were sent. */
  const ended = new Map<OutboxId, Instant.Instant>()

  /** The messages whose alarm may last, by incident. */
  const readAlarms = Effect.fnUntraced(function* (since: Instant.Instant) {
    const alarms = new Map<IncidentId, Array<OutboxRecord>>()
    const filter = { state: "sent", event_type: "firing" } as const
    const query = { list: "outbox", filter, sort: "updated_at", direction: "desc" } as const
    yield* eachPage(storage, query, (rows) => {
      const lasting = rows.filter(({ updated_at }) => updated_at >= since)
      for (const row of lasting)
        if (row.receiver === receiver && row.severity === "critical" && !ended.has(row.id))
          alarms.set(row.incident_id, [...(alarms.get(row.incident_id) ?? []), row])
      return lasting.length === rows.length
    })
    return alarms
  })

  const round = Effect.gen(function* () {
    yield* Effect.sleep(LOOK_EVERY)
    const endAlarm = receivers.current().get(receiver)?.endAlarm
    if (endAlarm === undefined || !(yield* isOwner)) return
    const now = yield* Instant.now
    const since = Instant.minus(now, LASTS)
    for (const [id, at] of ended) if (at < since) ended.delete(id)
    const errors = yield* Effect.forEach(
      yield* readAlarms(since),
      Effect.fnUntraced(function* ([incident, rows]) {
        const timeline = yield* storage.incident(incident, INCIDENT_ALONE)
        if (!isOver(timeline?.incident, now)) return []
        const result = yield* endAlarm(incident)
        if (result.outcome === "deferred") return [result.error]
        for (const { id, updated_at } of rows) ended.set(id, updated_at)
        return result.outcome === "refused" ? [result.error] : []
      }),
      { concurrency: AT_A_TIME },
    )
    const [error] = errors.flat()
    if (error !== undefined) return yield* Effect.fail(error)
  })
  return yield* keepRepeating(
    round,
    "cannot end an alarm; trying again while it lasts: check the storage",
    Effect.void,
  )
})

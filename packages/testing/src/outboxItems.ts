import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import { Effect, identity } from "effect"
import { TestClock } from "effect/testing"
import { search } from "./observe.ts"
import { incidentRecord, memberRecord, ONE_CRITICAL, outboxIdOf, outboxRecord, write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { start, START_MILLIS } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

/** So many seconds after {@link start}. */
export const after = (seconds: number) => Instant.fromMicros(start + BigInt(seconds * 1_000_000))
/** Past and to come by any clock. */
export const [LONG_AGO, FAR_OFF] = [Instant.fromMicros(0n), Instant.fromMicros(start * 3n)]

/** The fields that set an ended item apart from a pending one. */
export const ENDED: Partial<OutboxRecord> = { state: "sent", next_attempt_at: undefined }

/** The fields that set an item apart while a notifier sends it. */
export const sending = (leased_until: Instant.Instant): Partial<OutboxRecord> => ({
  state: "sending",
  next_attempt_at: undefined,
  attempts: 1,
  leased_until,
})

/** Puts incidents and outbox items, given as [name, incident, changes]. */
export const enqueue = (
  replica: Replica,
  items: ReadonlyArray<readonly [string, string, Partial<OutboxRecord>]>,
) =>
  write(replica, [], (unit) => {
    const incidents = new Set(items.map(([, incident]) => incident))
    for (const name of incidents) {
      unit.incidents.put(incidentRecord(name, ONE_CRITICAL))
      unit.members.put(memberRecord({ incident: name, agent: "db", check: "disk" }))
    }
    for (const [name, incident, changes] of items) unit.outbox.put(outboxRecord(name, incident, changes))
  })

/** A storage with such items, at {@link start}. */
export const openWith = Effect.fnUntraced(function* <Place>(
  subject: StorageUnderTest<Place>,
  items: ReadonlyArray<readonly [string, string, Partial<OutboxRecord>]>,
) {
  yield* TestClock.setTime(START_MILLIS)
  const replica = yield* openReplica(subject)
  yield* enqueue(replica, items)
  return replica
})

/** The claimable items. */
export const claimable = (
  replica: Replica,
  limit: number,
  receivers: ReadonlyArray<NotifierName> = ["debug"],
) => search(replica, "claimableOutbox", { receivers, limit }, identity)

/** The ids of items by their names. */
export const ids = (...names: ReadonlyArray<string>) => names.map((name) => outboxIdOf(name))

import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import * as Instant from "@tocsin/contract/formats/Instant"
import { assert, it } from "@effect/vitest"
import { type EndOfLink, followLink } from "@tocsin/core/heart/acknowledgements/acknowledge"
import type { Severity } from "@tocsin/contract/formats/Status"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import { incidentRecord, outboxIdOf, outboxRecord, write } from "@tocsin/testing/records"
import { openReplica } from "@tocsin/testing/Replica"
import { START_MILLIS, start } from "@tocsin/testing/samples"
import { signedBy } from "@tocsin/testing/signedBy"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

interface Case {
  readonly incident?: Partial<IncidentRecord>
  readonly item?: Partial<OutboxRecord>
  /** Whether links to its receiver acknowledge. */
  readonly hasLinks?: boolean
  readonly days?: number
  readonly isGone?: boolean
  readonly ends: EndOfLink | undefined
}

const CASES: Readonly<Record<string, Case>> = {
  "of an open incident has not ended": { days: 6, ends: undefined },
  "whose incident has resolved": { incident: { state: "resolved", resolved_at: start }, ends: "resolved" },
  "whose row was removed after its incident resolved": { isGone: true, ends: "resolved" },
  "whose receiver acknowledges no more": { hasLinks: false, ends: "removed" },
  "whose message was sent a week ago": { days: 7, ends: "old" },
  "whose message was sent a day after it was written has not ended": {
    days: 7,
    item: { updated_at: Instant.plus(start, Duration.days(1)) },
    ends: undefined,
  },
  "whose message may have arrived before another one took its place has not ended": {
    item: { state: "discarded", discarded_because: "coalesced" },
    ends: undefined,
  },
  "whose message was discarded before it was sent": {
    item: { state: "discarded", first_attempted_at: undefined },
    ends: "old",
  },
}

it.effect.each(Object.entries(CASES))("a link %s states why it has ended", ([, given]) =>
  Effect.gen(function* () {
    const { days = 0, ends, hasLinks = true, incident, isGone = false, item } = given
    yield* TestClock.setTime(START_MILLIS)
    const replica = yield* openReplica({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
    yield* write(replica, [], (unit) => {
      unit.incidents.put(incidentRecord("i", incident))
      const sent = { state: "sent", next_attempt_at: undefined, first_attempted_at: start } as const
      if (!isGone) unit.outbox.put(outboxRecord("o", "i", { ...sent, ...item }))
    })
    yield* TestClock.adjust(Duration.days(days))
    const lengthOf = () => (hasLinks ? Duration.hours(1) : undefined)
    const link = yield* transact(
      replica.storage,
      followLink({ id: outboxIdOf("o"), isPressed: false, lengthOf }, signedBy("eva")),
    )
    assert.strictEqual(link.outcome === "ended" ? link.reason : undefined, ends)
  }),
)

/** Follows the link of a critical firing under an acknowledgement of a severity. */
const pressUnder = Effect.fnUntraced(function* (ack_severity: Severity) {
  yield* TestClock.setTime(START_MILLIS)
  const replica = yield* openReplica({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
  const ack_until = Instant.plus(start, Duration.hours(1))
  yield* write(replica, [], (unit) => {
    const acknowledged = { ack_by: "eva", ack_at: start, ack_until, ack_severity } as const
    unit.incidents.put(incidentRecord("i", { severity: "critical", ...acknowledged }))
    const sent = { state: "sent", next_attempt_at: undefined, first_attempted_at: start } as const
    unit.outbox.put(outboxRecord("o", "i", { severity: "critical", ...sent }))
  })
  const input = { id: outboxIdOf("o"), isPressed: true, lengthOf: () => Duration.hours(2) }
  const link = yield* transact(replica.storage, followLink(input, signedBy("eva")))
  return link.outcome === "ended" ? undefined : link
})

// The incident has worsened silently since a milder one, which ends no acknowledgement.
it.effect.each([
  ["of the severity that it states changes nothing", "critical", { by: "eva", isNew: undefined }],
  ["of a milder one makes another", "warning", { by: "link:debug", isNew: true }],
] as const)("a link that is pressed under an acknowledgement %s", ([, severity, { by, isNew }]) =>
  Effect.gen(function* () {
    const link = yield* pressUnder(severity)
    assert.deepInclude(link?.acknowledgement, { by, severity: "critical" })
    assert.strictEqual(link?.outcome === "acknowledged" ? link.isNew : undefined, isNew)
  }),
)

import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import * as Instant from "@tocsin/contract/Instant"
import { assert, it } from "@effect/vitest"
import { type EndOfLink, followLink } from "@tocsin/core/acknowledgements/acknowledge"
import type { IncidentRecord } from "@tocsin/core/model/IncidentRecord"
import type { OutboxRecord } from "@tocsin/core/model/OutboxRecord"
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
  "whose message was discarded": { item: { state: "discarded" }, ends: "old" },
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

it.effect("a link is pressed although a milder acknowledgement is in force", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START_MILLIS)
    const replica = yield* openReplica({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
    const until = Instant.plus(start, Duration.hours(1))
    yield* write(replica, [], (unit) => {
      // It has worsened silently since, which ends no acknowledgement.
      const milder = { ack_by: "eva", ack_at: start, ack_until: until, ack_severity: "warning" } as const
      unit.incidents.put(incidentRecord("i", { severity: "critical", ...milder }))
      const sent = { state: "sent", next_attempt_at: undefined, first_attempted_at: start } as const
      unit.outbox.put(outboxRecord("o", "i", { severity: "critical", ...sent }))
    })
    const link = yield* transact(
      replica.storage,
      followLink(
        { id: outboxIdOf("o"), isPressed: true, lengthOf: () => Duration.hours(2) },
        signedBy("eva"),
      ),
    )
    assert.deepInclude(link.outcome === "ended" ? {} : link.acknowledgement, { severity: "critical" })
  }),
)

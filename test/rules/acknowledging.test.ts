import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { acknowledge, withdraw } from "@tocsin/core/heart/acknowledgements/acknowledge"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import { rowsOf } from "@tocsin/testing/rowsOf"
import { openReplica } from "@tocsin/testing/Replica"
import { incidentIdOf, incidentRecord, write } from "@tocsin/testing/records"
import { start, START_MILLIS } from "@tocsin/testing/samples"
import { signedBy } from "@tocsin/testing/signedBy"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

const ID = incidentIdOf("i")
const HOUR = Duration.hours(1)

const openWith = Effect.fnUntraced(function* (changes: Partial<IncidentRecord>) {
  yield* TestClock.setTime(START_MILLIS)
  const replica = yield* openReplica({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
  yield* write(replica, [], (unit) => unit.incidents.put(incidentRecord("i", changes)))
  return replica
})

describe("an acknowledgement (docs/rules.md#acknowledgements)", () => {
  it.effect.each([
    ["warning", "another_severity"],
    ["unknown", "acknowledged"],
    ["critical", "another_severity"],
    [undefined, "acknowledged"],
  ] as const)("of an incident that is unknown, which names %s: %s", ([severity, outcome]) =>
    Effect.gen(function* () {
      const { storage } = yield* openWith({ severity: "unknown" })
      const input = { id: ID, note: undefined, until: { for: HOUR }, severity }
      assert.strictEqual((yield* transact(storage, acknowledge(input, signedBy("eva")))).outcome, outcome)
    }),
  )

  it.effect.each([
    ["a moment before its end", -1, 1],
    ["at its end, which no evaluation has seen yet", 0, 0],
    ["later", 5_000, 0],
  ] as const)("is withdrawn %s", ([, millis, count]) =>
    Effect.gen(function* () {
      const acknowledged = { ack_by: "eva", ack_at: start, ack_severity: "critical" } as const
      const replica = yield* openWith({ ...acknowledged, ack_until: Instant.plus(start, HOUR) })
      yield* TestClock.adjust(Duration.toMillis(HOUR) + millis)
      assert.strictEqual(yield* transact(replica.storage, withdraw(ID, signedBy("ann"))), count)
      assert.strictEqual((yield* rowsOf(replica, "incidents"))[0]?.log_entries, count)
    }),
  )
})

import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { WITHOUT_POLICY } from "@tocsin/core/heart/firings/gatherFacts"
import { heldItems, readFirings } from "@tocsin/core/heart/firings/readHolds"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import { openReplica } from "@tocsin/testing/Replica"
import { incidentIdOf, incidentRecord, outboxIdOf, outboxRecord, write } from "@tocsin/testing/records"
import { start, START_MILLIS } from "@tocsin/testing/samples"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

const openWith = Effect.fnUntraced(function* (...items: ReadonlyArray<OutboxRecord>) {
  yield* TestClock.setTime(START_MILLIS)
  const replica = yield* openReplica({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
  yield* write(replica, [], (unit) => {
    unit.incidents.put(incidentRecord("i"))
    for (const item of items) unit.outbox.put(item)
  })
  return replica
})

const firing = (
  n: number,
  state: OutboxRecord["state"],
  receiver: string,
  changes: Partial<OutboxRecord> = {},
) => outboxRecord(`${receiver} ${n}`, "i", { receiver, state, incident_seq: n, ...changes })

describe("lists of firings (docs/rules.md#release)", () => {
  it.effect("show one for a receiver that reached it, or else the newest", () =>
    Effect.gen(function* () {
      const { storage } = yield* openWith(
        firing(1, "sent", "chat"),
        firing(2, "failed", "chat"),
        firing(3, "failed", "pager"),
        firing(4, "retry", "pager"),
        firing(1, "discarded", "shade", { discarded_because: "shadowed" }),
        firing(2, "pending", "shade"),
      )
      const found = yield* transact(storage, readFirings([incidentIdOf("i")]))
      assert.deepStrictEqual(
        found.map(({ receiver, state }) => `${receiver} ${state}`),
        ["chat sent", "pager retry", "shade discarded"],
      )
    }),
  )

  it.effect("show a hold that only an evaluation finds, until its end", () =>
    Effect.gen(function* () {
      const end = Instant.plus(start, Duration.minutes(1))
      const holds = [{ by: "after", until: Number(end) }] as const
      const held = firing(1, "pending", "chat", {
        next_attempt_at: undefined,
        next_evaluation_at: end,
        holds,
      })
      const { storage } = yield* openWith(held)
      const shown = Effect.map(transact(storage, heldItems([held], WITHOUT_POLICY)), (found) =>
        found.held.get(outboxIdOf("chat 1")),
      )
      yield* TestClock.adjust(59_999)
      assert.deepStrictEqual(yield* shown, { held_by: ["after"], held_until: end })
      yield* TestClock.adjust(1)
      assert.isUndefined(yield* shown)
    }),
  )
})

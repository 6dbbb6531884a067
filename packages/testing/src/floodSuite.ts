import { assert, describe } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { claimItems } from "./claimItems.ts"
import { range } from "./numbers.ts"
import { enqueue } from "./outboxItems.ts"
import { race } from "./race.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

/** Claims for messengers, to which many messages of a minute go together (docs/rules.md#floods). */
export const floodSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("a flood", () => {
    race(subject, { name: "has five single messages, however many claim" }, (replica) =>
      Effect.gen(function* () {
        const input = { receivers: ["debug"], limit: 2, lease: Duration.hours(1), isFlooded: true }
        for (const round of range(3)) {
          const items = range(4).map((n) => [`firing ${round} ${n}`, `${round} ${n}`, {}] as const)
          yield* enqueue(replica(round), items)
        }
        const claimed = yield* Effect.forEach(range(8), (n) => claimItems(replica(n).commits, input), {
          concurrency: "unbounded",
        })
        assert.lengthOf(claimed.flat(), 5)
      }),
    )
  })
}

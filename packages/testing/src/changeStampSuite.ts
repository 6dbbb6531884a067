import { assert, describe, it } from "@effect/vitest"
import type { ChangeStampRecord } from "@tocsin/core/kernel/model/ChangeStampRecord"
import { Effect } from "effect"
import { rowOf } from "./observe.ts"
import { atOnce, race } from "./race.ts"
import { write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { uuidV7 } from "./SeededIds.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const stampOf = (n: number): string => uuidV7(BigInt(n), `stamp ${n}`)

const raise = (replica: Replica, name: ChangeStampRecord["name"], stamp: string) =>
  write(replica, [], (unit) => unit.raise(name, () => stamp))

/** Stamps of what passes follow. No transaction reads one before it raises it. */
export const changeStampSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("stamps of changes", () => {
    it.effect("are raised unread, each by itself", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const read = Effect.all([
          rowOf(replica, "change_stamp", "labels"),
          rowOf(replica, "change_stamp", "silences"),
        ])
        assert.deepStrictEqual(yield* read, [undefined, undefined])
        for (const n of [1, 2]) yield* raise(replica, "labels", stampOf(n))
        const labels = { name: "labels", stamp: stampOf(2) } as const
        assert.deepStrictEqual(yield* read, [labels, undefined])
        yield* raise(replica, "silences", stampOf(3))
        assert.deepStrictEqual(yield* read, [labels, { name: "silences", stamp: stampOf(3) }])
      }),
    )
  })

  race(subject, { name: "stamps that are raised at once leave one of them" }, (replica) =>
    Effect.gen(function* () {
      const stamps = Array.from({ length: 16 }, (_, n) => stampOf(n))
      yield* Effect.forEach(stamps, (stamp, n) => raise(replica(n), "labels", stamp), atOnce)
      const row = yield* rowOf(replica(0), "change_stamp", "labels")
      assert.include(stamps, row?.stamp)
    }),
  )
}

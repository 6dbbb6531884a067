import { assert, describe } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { findPhone, takeBackCall } from "@tocsin/core/heart/notifications/phoneTurns"
import { commandOf } from "@tocsin/core/kernel/unitOfWork/Decision"
import { Duration, Effect } from "effect"
import { range } from "./numbers.ts"
import { enqueue } from "./outboxItems.ts"
import { race } from "./race.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"
import { claimItems } from "./claimItems.ts"

const beginAhead = commandOf(function* (unit) {
  const at = Instant.plus(unit.now, Duration.seconds(1))
  const phone = yield* findPhone(unit, "debug", at)
  phone.begin()
  return at
})

/** Claims for phones, which ring once at a time (docs/rules.md#phones). */
export const phoneSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("a phone", () => {
    race(subject, { name: "is claimed for once by many, and again once it did not ring" }, (replica) =>
      Effect.gen(function* () {
        yield* enqueue(
          replica(0),
          range(6).map((n) => [`firing ${n}`, `${n}`, {}] as const),
        )
        const claim = (n: number, digestOver: number | undefined) =>
          claimItems(replica(n).commits, {
            receivers: ["debug"],
            limit: 1,
            digestOver,
            lease: Duration.hours(1),
            isPhone: true,
          })
        const all = (digestOver: number | undefined) =>
          Effect.map(
            Effect.forEach(range(8), (n) => claim(n, digestOver), { concurrency: "unbounded" }),
            (claims) => claims.flat(),
          )
        // A transaction that began later may be first.
        const ahead = yield* transact(replica(1).storage, beginAhead())
        assert.deepStrictEqual(yield* all(undefined), [])
        yield* transact(replica(1).storage, takeBackCall("debug", ahead))
        const [single, ...others] = yield* all(undefined)
        assert.strictEqual(others.length, 0)
        const began_at = single?.claim.call_began_at ?? assert.fail("no call began")
        assert.deepStrictEqual(yield* all(1), [])
        // The beginning of another call stays.
        yield* transact(replica(1).storage, takeBackCall("debug", Instant.plus(began_at, Duration.millis(1))))
        assert.deepStrictEqual(yield* all(1), [])
        yield* transact(replica(1).storage, takeBackCall("debug", began_at))
        const digest = yield* all(1)
        assert.strictEqual(digest.length, 5)
        assert.isTrue(digest.every(({ isInDigest }) => isInDigest))
        const moments = new Set(digest.map(({ claim: { call_began_at } }) => call_began_at))
        assert.strictEqual(moments.size, 1)
      }),
    )
  })
}

import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type Act, findKey, once, storeAnswer } from "@tocsin/core/kernel/engine/commits/actOnce"
import { commandOf } from "@tocsin/core/kernel/unitOfWork/Decision"
import {
  IDEMPOTENCY_KEY_TIME,
  IdempotencyKeyTransitions,
} from "@tocsin/core/kernel/model/IdempotencyKeyRecord"
import { applyPolicy } from "@tocsin/core/heart/policy/applyPolicy"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { expireAll } from "./expireAll.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "./forAll.ts"
import { rowOf } from "./observe.ts"
import { atOnce, race } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const RUNS = 30

const acting = (n: number): Act => ({ id: "key", request_hash: `request ${n}`, isStored: false })

const applying = (text: string) =>
  applyPolicy({ hash: text, text, replaces: undefined }, "none", signedBy("ann"))

/** Changes nothing. */
const looking = commandOf(function* (unit) {
  yield { rows: { policy_version: [1] } }
  return unit.of("policy_version").get(1)?.version
})

type Move = "changed" | "unchanged" | "answered" | "expired"

const stateOf = ({ storage }: Replica) =>
  Effect.map(transact(storage, findKey({ id: "key" })), (row) =>
    row === undefined ? "absent" : row.answer === undefined ? "under_way" : "answered",
  )

/** The next state by the table, or the same where the table has no such move. */
const nextState = (state: string, trigger: Move): string =>
  IdempotencyKeyTransitions.find((move) => move.from === state && move.trigger === trigger)?.to ?? state

const story = (replica: Replica) =>
  forAll(
    fc.array(fc.constantFrom<Move>("changed", "unchanged", "answered", "expired"), { maxLength: 8 }),
    { runs: RUNS },
    (moves) =>
      Effect.gen(function* () {
        const { storage } = replica
        yield* TestClock.adjust(Duration.sum(IDEMPOTENCY_KEY_TIME, Duration.seconds(1)))
        let versions = (yield* storage.policyVersions(0, 200)).length
        for (const [n, move] of moves.entries()) {
          const before = yield* stateOf(replica)
          const act = { ...acting(1), isStored: before === "under_way" }
          if (move === "changed") {
            const text = `policy ${versions} ${n} ${yield* Instant.now}`
            const { isTaken } = yield* transact(storage, once(applying(text), acting(1)))
            assert.strictEqual(isTaken, before !== "absent")
            const stored = (yield* storage.policyVersions(0, 200)).length
            assert.strictEqual(stored, Math.min(100, isTaken ? versions : versions + 1))
            versions = stored
          }
          if (move === "unchanged") {
            const { isTaken } = yield* transact(storage, once(looking(), acting(1)))
            assert.strictEqual(isTaken, before !== "absent")
          }
          if (move === "answered") yield* transact(storage, storeAnswer(act, "the answer"))
          if (move === "expired") yield* TestClock.adjust(IDEMPOTENCY_KEY_TIME)
          assert.strictEqual(yield* stateOf(replica), nextState(before, move))
        }
      }),
  )

/** Keys of acts: their values, their states, and who of several acts. */
export const idempotencySuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("idempotency keys", () => {
    it.effect(
      "move as their table states, with the rows of their acts",
      () => Effect.flatMap(openReplica(subject), story),
      PROPERTY_TIMEOUT_MILLIS,
    )

    it.effect("are removed after 24 hours", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* transact(replica.storage, storeAnswer(acting(1), "the answer"))
        const at = yield* Instant.now
        const expire = (before: Instant.Instant) =>
          expireAll(replica.storage, { rule: "idempotency_keys", before, limit: 100 })
        yield* expire(at)
        assert.isDefined(yield* rowOf(replica, "idempotency_key", "key"))
        yield* expire(Instant.plus(at, Duration.seconds(1)))
        assert.isUndefined(yield* rowOf(replica, "idempotency_key", "key"))
      }),
    )
  })

  race(subject, { name: "of acts with the same key, one is carried out" }, (replica) =>
    Effect.gen(function* () {
      const acted = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, n) => n),
        (n) => transact(replica(n).storage, once(applying(`policy ${n}`), acting(n))),
        atOnce,
      )
      assert.strictEqual(acted.filter(({ isTaken }) => !isTaken).length, 1)
      assert.strictEqual((yield* replica(0).storage.policyVersions(0, 20)).length, 1)
    }),
  )
}

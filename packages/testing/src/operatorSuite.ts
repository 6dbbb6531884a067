import { assert, describe, it } from "@effect/vitest"
import { KeyHash } from "@tocsin/contract/formats/Identifiers"
import { OperatorName } from "@tocsin/contract/operators/Operators"
import { Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { atOnce, outcomeOf, race } from "./race.ts"
import { newPlace, openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { because, type StorageUnderTest } from "./StorageUnderTest.ts"

const named = (name: string) => OperatorName.make(name)

/** The role that each of these replicas gives a token. */
const roleOf = (token: string, { operators }: Replica) =>
  Effect.map(operators.authenticate(Redacted.make(token)), (operator) => operator?.role)

const isSeenByOthers = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const open = yield* newPlace(subject)
  const [here, there] = [yield* open, yield* open]
  const { token } = yield* here.operators.create({ name: named("ann"), role: "read" })
  assert.strictEqual(yield* roleOf(token, there), "read")

  yield* here.operators.change(named("ann"), { role: "admin" })
  assert.strictEqual(yield* roleOf(token, there), "admin")

  const rotated = yield* here.operators.rotate(named("ann"), { grace: Duration.hours(1) })
  assert.deepStrictEqual(
    [yield* roleOf(token, there), yield* roleOf(rotated.token, there)],
    ["admin", "admin"],
  )
  yield* TestClock.adjust("1 hour")
  assert.deepStrictEqual(
    [yield* roleOf(token, there), yield* roleOf(rotated.token, there)],
    [undefined, "admin"],
  )
  const last = yield* here.operators.rotate(named("ann"), { grace: Duration.zero })
  assert.strictEqual(yield* roleOf(rotated.token, there), undefined)

  yield* here.operators.remove(named("ann"))
  assert.strictEqual(yield* roleOf(last.token, there), undefined)
})

const isUsed = Effect.fnUntraced(function* (replica: Replica) {
  const { operators } = replica
  const { token } = yield* operators.create({ name: named("ann"), role: "respond" })
  const lastUse = Effect.map(rowsOf(replica, "operators"), ([row]) => row?.last_used_at)
  assert.isUndefined(yield* lastUse)
  yield* roleOf(token, replica)
  const first = yield* lastUse
  assert.isDefined(first)
  yield* TestClock.adjust("59 seconds")
  yield* roleOf(token, replica)
  assert.strictEqual(yield* lastUse, first)
  yield* TestClock.adjust("1 second")
  yield* roleOf(token, replica)
  assert.strictEqual(yield* lastUse, (first ?? 0n) + 60_000_000n)
})

/** Named operators: rows, lookups by token, and acts of two replicas (docs/rules.md#operators). */
export const operatorSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("operators", () => {
    it.effect("are listed by name, and found by no other token", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        for (const name of ["b", "a-1", "a.1", "a", "9"])
          yield* replica.operators.create({ name: named(name), role: "read" })
        const listed = (yield* rowsOf(replica, "operators")).map(({ name }) => name)
        assert.deepStrictEqual(listed, ["9", "a", "a-1", "a.1", "b"].map(named))
        assert.isUndefined(yield* replica.storage.operatorOfToken(KeyHash.make("0".repeat(64))))
      }),
    )

    it.effect("record their last use at most once a minute", () =>
      Effect.flatMap(openReplica(subject), isUsed),
    )

    it.effect.skipIf(subject.onlyOneClient !== undefined)(
      `changes hold for the next request to another replica${because(subject)}`,
      () => isSeenByOthers(subject),
    )
  })

  race(subject, { name: "of two operators of one name, one is created and one is refused" }, (replica) =>
    Effect.gen(function* () {
      for (let round = 0; round < 8; round++) {
        const name = named(`ann-${round}`)
        const outcomes = yield* Effect.forEach(
          [0, 1],
          (n) => outcomeOf(Effect.as(replica(n).operators.create({ name, role: "read" }), "created")),
          atOnce,
        )
        assert.sameMembers(outcomes, ["created", "StateConflict"])
      }
      assert.strictEqual((yield* rowsOf(replica(0), "operators")).length, 8)
    }),
  )
}

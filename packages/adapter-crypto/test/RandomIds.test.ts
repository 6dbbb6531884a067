import { assert, describe, it } from "@effect/vitest"
import { EventId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import * as RandomIds from "../src/RandomIds.ts"

const MANY = 20_000
// The example of RFC 9562, A.6.
const EXAMPLE = 0x017f22e279b0

const makeIds = (millis: ReadonlyArray<number>) =>
  Effect.map(Ids, ({ uuidV7 }) => millis.map((each) => uuidV7(Instant.fromMillis(each)))).pipe(
    Effect.provide(RandomIds.layer),
  )

const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

describe("RandomIds", () => {
  it.effect("makes UUIDs of version 7 with the time they are given, tens of thousands in a millisecond", () =>
    Effect.gen(function* () {
      const ids = yield* makeIds(Array.from({ length: MANY }, () => EXAMPLE))
      assert.strictEqual(new Set(ids).size, MANY)
      assert.isTrue(ids.every(Schema.is(EventId)))
      assert.isTrue(ids.every((id) => id.startsWith("017f22e2-79b0-7")))
    }),
  )

  it("increase strictly, in their order as text too, whatever the clock does", () => {
    const clock = fc.array(fc.tuple(fc.integer({ min: -2, max: 2 }), fc.integer({ min: 1, max: 20 })))
    fc.assert(
      fc.property(clock, (steps) => {
        let now = EXAMPLE
        const given = steps.flatMap(([step, times]) => Array.from({ length: times }, () => (now += step)))
        const ids = Effect.runSync(makeIds(given))
        let latest = 0
        for (const [at, id] of ids.entries()) {
          assert.isTrue(Schema.is(EventId)(id))
          if (at > 0) assert.isTrue(id > (ids[at - 1] ?? ""), `${ids[at - 1]} before ${id}`)
          latest = Math.max(latest, given[at] ?? 0)
          assert.strictEqual(timeOf(id), latest)
        }
      }),
    )
  })

  it.effect("of two sources share nothing but the time", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* makeIds([EXAMPLE]), yield* makeIds([EXAMPLE])]
      assert.notStrictEqual(one[0]?.slice(14), other[0]?.slice(14))
    }),
  )
})

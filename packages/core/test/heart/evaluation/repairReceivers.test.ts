import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeRepairs } from "../../../src/heart/evaluation/repairReceivers.ts"
import type { RepairedReceivers } from "../../../src/heart/firings/FiringFacts.ts"
import { StorageError } from "../../../src/kernel/ports/Storage.ts"

const CHAT = NotifierName.make("chat")
const PAGER = NotifierName.make("pager")
const AT = Instant.fromMillis(1_769_848_200_000)

/** The loop, whose first rounds fail, and each receiver for which it looked in each round, with the reason. */
const repairing = Effect.fnUntraced(function* (failures: number) {
  const rounds: Array<ReadonlyArray<string>> = []
  const repair = (repaired: RepairedReceivers) =>
    Effect.suspend(() => {
      rounds.push(Array.from(repaired, ([name, { by }]) => `${name} ${by}`).toSorted())
      return rounds.length > failures
        ? Effect.void
        : Effect.fail(new StorageError({ reason: "unavailable", message: "gone" }))
    })
  const { run, works } = makeRepairs(repair)
  yield* Effect.forkScoped(run)
  return { rounds, works }
})

describe("the search for refused firings (docs/rules.md#repaired-receivers)", () => {
  it.effect("takes a change for more than an attempt, whichever comes last", () =>
    Effect.gen(function* () {
      const { rounds, works } = yield* repairing(0)
      works(CHAT, "change", AT)
      works(CHAT, "attempt", AT)
      works(PAGER, "attempt", AT)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(rounds, [["chat change", "pager attempt"]])
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(rounds, 1)
    }),
  )

  it.effect("looks again for all of them once the storage is back", () =>
    Effect.gen(function* () {
      const { rounds, works } = yield* repairing(1)
      works(CHAT, "change", AT)
      yield* TestClock.adjust("10 millis")
      works(PAGER, "attempt", AT)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(rounds, [["chat change"], ["chat change", "pager attempt"]])
    }),
  )
})

import { assert, describe, it } from "@effect/vitest"
import { OverrideId } from "@tocsin/contract/onCall/Rotas"
import * as Instant from "@tocsin/contract/formats/Instant"
import { NotifierName } from "@tocsin/contract/formats/Status"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { OverrideTransitions, overrideState } from "@tocsin/core/heart/model/RotaOverrideRecord"
import { createOverride, endOverride } from "@tocsin/core/features/onCall/overrideDecisions"
import { expireAll } from "@tocsin/testing/expireAll"
import { forAll } from "@tocsin/testing/forAll"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import { signedBy } from "@tocsin/testing/signedBy"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { livesOf } from "./livesOf.ts"

const ID = OverrideId.make(uuidV7(0n, "override"))
const ROTA = NotifierName.make("primary")
const EVA = signedBy("eva")

const step = fc.record({
  kind: fc.constantFrom("create" as const, "end" as const, "pass" as const, "retain" as const),
  minutes: fc.constantFrom<number>(0, 1, 2, 5),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const then = (kind: Step["kind"], minutes = 0): Step => ({ kind, minutes })

/** Short lives in which every row of the table happens; a new override lasts three minutes. */
const TOURS: ReadonlyArray<ReadonlyArray<Step>> = [
  [then("create"), then("end"), then("retain")],
  [then("create", 5), then("end"), then("retain")],
  [then("create", 1), then("pass", 2), then("pass", 5), then("retain")],
]

const openLife = () => {
  const tables = new MemoryTables()
  const storage = MemoryStorage.make(tables)
  const inMinutes = (minutes: number) =>
    Effect.map(Instant.now, (now) => Instant.plus(now, Duration.minutes(minutes)))
  const create = Effect.fnUntraced(function* (from: number, to: number) {
    const times = { from: yield* inMinutes(from), to: yield* inMinutes(to) }
    const given = { id: ID, rota: ROTA, receivers: [NotifierName.make("bob")], note: undefined }
    return yield* transact(storage, createOverride({ ...given, ...times }, EVA))
  })
  const state = Effect.map(Instant.now, (now) => {
    const override = tables.keyed.rota_override.get(ID)
    return override === undefined ? "absent" : overrideState(override, now)
  })
  const act = Effect.fnUntraced(function* ({ kind, minutes }: Step) {
    switch (kind) {
      case "create":
        if (tables.keyed.rota_override.has(ID)) return false
        Result.getOrThrow(yield* create(minutes, minutes + 3))
        return true
      case "end":
        return (yield* transact(storage, endOverride(ROTA, ID, EVA))) === 1
      case "pass":
        yield* TestClock.adjust(Duration.minutes(minutes))
        return true
      case "retain":
        yield* expireAll(storage, { rule: "overrides", before: yield* Instant.now, limit: 100 })
        return true
    }
  })
  return { act, create, state }
}

describe("an override", () => {
  it.effect("moves as its table states, is refused everything else, and every row happens", () =>
    Effect.gen(function* () {
      const { missing, play } = livesOf<Step["kind"], Step>({
        table: OverrideTransitions,
        may: {
          create: ["created", "scheduled"],
          end: ["ended_by_hand"],
          pass: ["started", "ended"],
          retain: ["removed"],
        },
        open: openLife,
      })
      yield* Effect.forEach(TOURS, play)
      assert.deepStrictEqual(Array.from(missing), [])
      yield* forAll(fc.array(step, { maxLength: 20 }), { runs: 60 }, play)
    }),
  )

  it.effect("may begin a minute ago, which is now, and lasts 31 days at most", () =>
    Effect.gen(function* () {
      const DAY = 1_440
      const refusal = (from: number, to: number) =>
        Effect.map(
          openLife().create(from, to),
          Result.match({
            onFailure: ({ message }) => message,
            onSuccess: ({ ends_at, starts_at }) => `${Instant.secondsBetween(starts_at, ends_at)} s`,
          }),
        )
      assert.strictEqual(yield* refusal(-1, 1), "60 s")
      assert.strictEqual(
        yield* refusal(-1.1, 1),
        "from must not be more than a minute in the past; leave it out to start now",
      )
      assert.strictEqual(yield* refusal(0, 0), "to must be in the future, and after from")
      assert.strictEqual(yield* refusal(2, 2), "to must be in the future, and after from")
      assert.strictEqual(yield* refusal(7, 7 + 31 * DAY), `${31 * 86_400} s`)
      assert.strictEqual(
        yield* refusal(7, 7.1 + 31 * DAY),
        "to must be at most 31 days after from; create another override for the rest",
      )
    }),
  )
})

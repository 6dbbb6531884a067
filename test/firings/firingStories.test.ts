import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { assert, describe, it } from "@effect/vitest"
import { Storage } from "@tocsin/core/ports/Storage"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AT_LENGTH } from "../properties/atLength.ts"
import { EmptiedPostgres } from "../storage/EmptiedPostgres.ts"
import { playModel } from "./playModel.ts"
import { differences, playService, STRIDE } from "./playService.ts"
import { randomStory } from "./randomStory.ts"

const USUAL = 40
/** Longer than every delay and reminder after the last step. */
const TAIL = 2_400

/** The storages that work in real time, which takes seconds for a story. */
const STORAGES = {
  SQLite: SqliteStorage.layer({ file: ":memory:" }),
  PostgreSQL: Layer.unwrap(Effect.map(EmptiedPostgres, ({ url }) => PgStorage.layer({ url }))).pipe(
    Layer.provide(EmptiedPostgres.layerOfFile()),
  ),
}
/** A short one. */
const SAMPLE = [2]

/** Compares a story with the model. Returns how many messages are expected. */
const compare = Effect.fnUntraced(function* (
  number: number,
  options: Parameters<typeof playService>[2] = {},
) {
  const story = randomStory(number)
  const course = playModel(story, TAIL)
  const arrivals = yield* playService(story, course, options).pipe(Effect.provide(TestClock.layer()))
  const found = differences(course, arrivals, options.isReal === true ? STRIDE : 0)
  const steps = course.steps.map((step) => JSON.stringify(step))
  assert.deepStrictEqual(found, [], [`story ${number}`, ...steps, ...found].join("\n"))
  return course.messages.length
})

describe("random stories of policies, results, acts of people and outages", () => {
  it.effect("lead to the messages that the model of firings expects, and to no other", () =>
    Effect.gen(function* () {
      let expected = 0
      for (let number = 0; number < propertyRuns(USUAL); number++) expected += yield* compare(number)
      assert.isAbove(expected, 0)
    }),
  )

  it.live.each(Object.entries(STORAGES))("lead to the same from two replicas on %s", ([, layer]) =>
    Effect.gen(function* () {
      let expected = 0
      for (const number of AT_LENGTH ? Array.from({ length: 8 }, (_, n) => n) : SAMPLE) {
        const storage = Context.get(yield* Layer.build(Layer.fresh(layer)), Storage)
        expected += yield* compare(number, { storage, isReal: true, replicas: 2 })
      }
      assert.isAbove(expected, 0)
    }),
  )
})

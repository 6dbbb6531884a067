import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { assert, it } from "@effect/vitest"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "@tocsin/testing/forAll"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import { EmptiedPostgres } from "../storage/EmptiedPostgres.ts"
import { Night } from "./Night.ts"
import { nightOf } from "./randomNight.ts"
import { endOf, watchNight } from "./watchNight.ts"

/**
 * Of so many random nights one may differ, and two more: of 100, the model reads less than one otherwise, where rules
 * meet. A slip of the service at one kind of attempt differs in more; `slips.test.ts` shows that each is noticed.
 */
const RARE = 50
/** Of so many nights, at most every second one may leave open what follows. */
const ENOUGH = 5

/** Plays nights on a storage, which so many replicas share: random ones at length, else the same each time. */
const areOwed = (storage: Layer.Layer<Storage, unknown>, runs: number, replicas: number) =>
  Effect.gen(function* () {
    const count = { all: 0, open: 0 }
    const differing: Array<string> = []
    yield* forAll(fc.nat(), { runs, runMillis: PROPERTY_TIMEOUT_MILLIS }, (drawn) =>
      Effect.gen(function* () {
        const seed = AT_LENGTH ? drawn : count.all
        count.all += 1
        const story = nightOf(seed)
        const log = yield* watchNight(story, { storage: yield* Storage, replicas })
        const { trace, verdict, why } = new Night(story, endOf(story)).judge(log)
        if (verdict === "is open") count.open += 1
        if (verdict === "differs")
          differing.push([`night ${seed}`, JSON.stringify(story.policy), ...trace, why].join("\n"))
      }).pipe(Effect.provide(Layer.fresh(storage))),
    )
    assert.isTrue(count.all < ENOUGH || count.open * 2 <= count.all, JSON.stringify(count))
    assert.isAtMost(
      differing.length,
      AT_LENGTH ? 2 + Math.floor(count.all / RARE) : 0,
      differing.join("\n\n"),
    )
  })

const TITLE = "each attempt of a random night is owed, and each that is owed begins in time"
const postgres = EmptiedPostgres.client.pipe(Layer.provide(EmptiedPostgres.layerOfFile()))

it.live(TITLE, () => areOwed(MemoryStorage.layer, 200, 1), PROPERTY_TIMEOUT_MILLIS)
it.live.skipIf(!AT_LENGTH)(
  `${TITLE}: two replicas on SQLite${unlessAtLength}`,
  () => areOwed(SqliteStorage.layer({ file: ":memory:" }), 40, 2),
  PROPERTY_TIMEOUT_MILLIS,
)
it.live.skipIf(!AT_LENGTH)(
  `${TITLE}: two replicas on PostgreSQL${unlessAtLength}`,
  () => areOwed(postgres, 10, 2),
  PROPERTY_TIMEOUT_MILLIS,
)

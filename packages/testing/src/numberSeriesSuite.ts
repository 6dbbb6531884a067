import { assert, describe, it } from "@effect/vitest"
import { removeCheck } from "@tocsin/core/checks/checkActions"
import { PART_KINDS, type WrittenPart } from "@tocsin/core/numbers/NumberPart"
import { spanOf } from "@tocsin/core/numbers/Span"
import { Effect } from "effect"
import { agent, allOf, checks, DAY, fill, FIRST_DAY, numbersOf, SERVERS } from "./numbersSuite.ts"
import { openReplica } from "./Replica.ts"
import { START_MILLIS } from "./samples.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const END = START_MILLIS + DAY

const isOfPresentChecks = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const replica = yield* openReplica(subject)
  const numbers = numbersOf(replica)
  yield* fill(replica)
  const parts = checks.map(({ agent_id, check_id, registration_id }, n): WrittenPart => ({
    agent_id,
    registration_id,
    check_id,
    name: "duration",
    unit: "s",
    kind: "hour",
    start: FIRST_DAY + n * PART_KINDS.hour.length,
    since: FIRST_DAY,
    spans: [spanOf(1, 0)],
  }))
  const written = (some: ReadonlyArray<WrittenPart>) => numbers.write(SERVERS[0] ?? "", some)
  assert.deepStrictEqual(yield* written(parts), [])
  const named = Effect.map(numbers.series(), (all) =>
    all.map(({ check_id, newest }) => [check_id, (newest - FIRST_DAY) / PART_KINDS.hour.length]).toSorted(),
  )
  assert.deepStrictEqual(yield* named, [
    ["cpu", 0],
    ["disk", 1],
  ])
  yield* replica.commits.transact(
    removeCheck(
      { agent_id: agent.agent_id, check_id: checks[0]?.check_id ?? assert.fail() },
      replica.incidents,
      signedBy("ann"),
    ),
  )
  assert.deepStrictEqual(yield* named, [["disk", 1]])
  const [cpu = assert.fail(), disk = assert.fail()] = parts
  assert.deepStrictEqual(yield* written(parts), [cpu])
  yield* numbers.expireSeries({ before: FIRST_DAY, now: END })
  assert.deepStrictEqual(yield* named, [["disk", 1]])
  assert.deepStrictEqual(yield* allOf(replica, checks[0] ?? assert.fail()), [])
  // A check of the same name has no numbers of the deleted one, which a server had in its memory.
  yield* fill(replica)
  const sinceThen = { ...cpu, since: START_MILLIS + 1 }
  assert.deepStrictEqual(yield* written([{ ...cpu, since: START_MILLIS }, disk]), [
    { ...cpu, since: START_MILLIS },
  ])
  assert.deepStrictEqual(yield* named, [["disk", 1]])
  assert.deepStrictEqual(yield* written([sinceThen]), [])
  assert.deepStrictEqual(yield* named, [
    ["cpu", 0],
    ["disk", 1],
  ])
  yield* numbers.endSeries([{ ...disk, unit: "other" }, disk])
  assert.deepStrictEqual(yield* named, [["cpu", 0]])
  yield* numbers.expireSeries({ before: FIRST_DAY, now: START_MILLIS + 2 * DAY })
  assert.deepStrictEqual(yield* written([{ ...cpu, since: START_MILLIS }]), [])
  yield* numbers.expireSeries({ before: FIRST_DAY + DAY, now: END })
  assert.deepStrictEqual(yield* named, [])
})

const isMovedBack = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const replica = yield* openReplica(subject)
  const numbers = numbersOf(replica)
  yield* fill(replica)
  const { agent_id, check_id, registration_id } = checks[0] ?? assert.fail()
  const ahead = { agent_id, check_id, registration_id, name: "n", unit: "", kind: "hour" as const }
  yield* numbers.write(SERVERS[0] ?? "", [
    { ...ahead, start: FIRST_DAY + 365 * DAY, since: FIRST_DAY + 365 * DAY, spans: [spanOf(1, 0)] },
  ])
  yield* numbers.expireSeries({ before: FIRST_DAY - DAY, now: FIRST_DAY })
  assert.deepStrictEqual(
    (yield* numbers.series()).map(({ newest }) => newest),
    [FIRST_DAY],
  )
})

/** The series of the port `NumberStorage`, for storages that have it. */
export const numberSeriesSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("series of numbers", () => {
    it.effect("are of checks that are there, and were not deleted since", () => isOfPresentChecks(subject))
    it.effect("of a clock that was ahead count as of now", () => isMovedBack(subject))
  })
}

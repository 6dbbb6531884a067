import { assert, describe, it } from "@effect/vitest"
import { removeCheck } from "@tocsin/core/heart/checks/checkActions"
import { PART_KINDS } from "@tocsin/core/features/numbers/NumberPart"
import type { WrittenPart } from "@tocsin/core/kernel/ports/NumberStorage"
import { spanOf } from "@tocsin/core/features/numbers/Span"
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

const isFolded = Effect.fnUntraced(function* <Place>(subject: StorageUnderTest<Place>) {
  const replica = yield* openReplica(subject)
  const numbers = numbersOf(replica)
  yield* fill(replica)
  const { agent_id, check_id, registration_id } = checks[0] ?? assert.fail()
  const of = { agent_id, check_id, registration_id }
  const { length: hour } = PART_KINDS.hour
  const written = (server: number, name: string, place: number, value: number) =>
    numbers.write(`00000000-0000-7000-8000-${String(server).padStart(12, "0")}`, [
      {
        agent_id,
        check_id,
        registration_id,
        name,
        unit: "",
        kind: "hour",
        since: FIRST_DAY,
        start: FIRST_DAY + place * hour,
        spans: [spanOf(value, 1)],
      },
    ])
  const countsOf = (kind: "day" | "hour", name: string) =>
    Effect.map(
      numbers.parts({
        ...of,
        name,
        kinds: [kind],
        from: FIRST_DAY,
        to: FIRST_DAY + DAY,
      }),
      (parts) => parts.map(({ spans }) => Array.from(spans, (span) => span?.count ?? 0).join()).toSorted(),
    )
  for (let server = 1; server <= 6; server++) {
    yield* written(server, "many", 0, server)
    yield* written(server, "many", server % 2, server)
    if (server < 3) yield* written(server, "few", 0, server)
  }
  const before = FIRST_DAY + hour
  for (let again = 0; again < 2; again++) yield* numbers.fold({ start: FIRST_DAY, before })
  assert.deepStrictEqual(yield* countsOf("hour", "many"), ["1", "1", "1", "6"])
  assert.deepStrictEqual(yield* countsOf("day", "many"), ["0,1", "0,1", "0,1", "6"])
  assert.deepStrictEqual(yield* countsOf("hour", "few"), ["1", "1"])
  // A server goes on with its day, and has no more of the hour that was folded.
  yield* written(1, "many", 2, 9)
  assert.deepStrictEqual(yield* countsOf("day", "many"), ["0,1", "0,1", "0,1,1", "6"])
  const [first] = yield* numbers.parts({
    ...of,
    name: "many",
    kinds: ["hour"],
    from: FIRST_DAY,
    to: before,
  })
  assert.deepInclude(first?.spans[0], { count: 6, least: 1, most: 6, mean: 3.5 })
})

/** The series of the port `NumberStorage`, for storages that have it. */
export const numberSeriesSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("series of numbers", () => {
    it.effect("are of checks that are there, and were not deleted since", () => isOfPresentChecks(subject))
    it.effect("of more servers than run are folded, but for the hours that these still write", () =>
      isFolded(subject),
    )
    it.effect("of a clock that was ahead count as of now", () => isMovedBack(subject))
  })
}

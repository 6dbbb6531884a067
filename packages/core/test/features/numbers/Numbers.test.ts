import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { boundReached, patternOfName } from "../../../src/features/numbers/NumberBounds.ts"
import { PART_KINDS, startsIn } from "../../../src/features/numbers/NumberPart.ts"
import type { PartsQuery, NumberPart } from "@tocsin/core/kernel/ports/NumberStorage"
import { spanOf } from "../../../src/features/numbers/Span.ts"
import { readingNumbers } from "../../../src/features/numbers/Numbers.ts"

const { length: DAY } = PART_KINDS.day
const NOW = Date.UTC(2026, 2, 1)
const check = {
  agent_id: AgentId.make("a"),
  registration_id: RegistrationId.make("00000000-0000-7000-8000-000000000001"),
  check_id: CheckId.make("c"),
}
const spans = Array.from({ length: 24 }, () => spanOf(1, 0))

/** A storage with parts of series on each day or hour that was asked for, and the rows of each read. */
const open = (
  namesOn: (start: number) => ReadonlyArray<string>,
  { places = [], summary = "" }: { readonly places?: ReadonlyArray<AgentId>; readonly summary?: string } = {},
) => {
  const rows: Array<number> = []
  const asked: Array<string> = []
  const part = (kind: NumberPart["kind"], start: number, name: string): NumberPart => ({
    ...check,
    name,
    unit: "",
    kind,
    start,
    spans,
  })
  const parts = ({ agent_id, check_id, from, kinds, name, to }: PartsQuery) =>
    Effect.sync(() => {
      const [kind = "day"] = kinds
      const found = startsIn(kind, from, to).flatMap((start) =>
        namesOn(start)
          .filter((one) => name === undefined || one === name)
          .map((one) => part(kind, start, one)),
      )
      rows.push(found.length)
      if (name === "duration") asked.push(`${agent_id}/${check_id}`)
      return found
    })
  const known = startsIn("day", NOW - 93 * DAY, NOW).flatMap((newest) =>
    namesOn(newest).map((name) => ({ ...check, name, unit: "", newest })),
  )
  const series = Array.from(new Map(known.map((one) => [one.name, one])).values())
  // Only what reading calls.
  const numbers = { parts, series: () => Effect.succeed(series) } as never
  // Oslo has not reported the watch.
  const checkOf = (of: string, id: string) =>
    of === "oslo" ? undefined : { ...check, agent_id: of, check_id: id, summary }
  const storage = { check: (...of: [string, string]) => Effect.succeed(checkOf(...of)), numbers } as never
  const memory = { numbers, most: 1_000, write: () => Effect.void } as never
  const shared = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.cachedWithTTL(effect, Duration.negativeInfinity)
  return { asked, rows, reader: readingNumbers(storage, memory, shared, () => Effect.succeed(places)) }
}

const sum = (rows: ReadonlyArray<number>) => rows.reduce((all, some) => all + some, 0)
const few = Array.from({ length: 20 }, (_, n) => `v${n}`)
const { agent_id, check_id } = check
const quarter = { agent_id, check_id, step: "1h", from: Instant.fromMillis(NOW - 93 * DAY) } as const

describe("a read of numbers over time (docs/rules.md#numbers)", () => {
  it.effect("says how many numbers of the newest output are not kept, also to doctor", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW - 3_600_000)
      const moreOf = Effect.fnUntraced(function* (kept: number, output: string) {
        const { reader } = open((start) => (start === NOW - DAY ? few.slice(0, kept) : []), {
          summary: output,
        })
        const { not_kept } = yield* reader.ofCheck(agent_id, check_id)
        const { checks } = yield* reader.reachedBounds(1_000)
        assert.isTrue(not_kept.every(({ because }) => because === "check"))
        return [not_kept.length, ...checks.map(([, , more]) => more)]
      })
      const numbers = (count: number, unit = "") =>
        `OK | ${Array.from({ length: count }, (_, n) => `v${n}=1${unit}`).join(" ")}`
      assert.deepStrictEqual(yield* moreOf(20, numbers(40)), [20, 20])
      assert.deepStrictEqual(yield* moreOf(20, numbers(20)), [0])
      assert.deepStrictEqual(yield* moreOf(20, numbers(40, "c")), [40, 40])
      // A counter is none before its second value.
      assert.deepStrictEqual(yield* moreOf(3, numbers(3, "c")), [0])
    }),
  )

  it("says by which bound a number is not kept", () => {
    const series = (count: number, agent: string = agent_id) =>
      Array.from({ length: count }, (_, n) => ({
        ...check,
        agent_id: AgentId.make(agent),
        name: `v${n}`,
        unit: "",
        newest: NOW,
      }))
    const boundOf = (own: number, others: ReadonlyArray<ReturnType<typeof series>>, most: number) => {
      const all = [...series(own), ...others.flat()]
      return boundReached(agent_id, { series: series(own), all, most, now: NOW })
    }
    assert.strictEqual(boundOf(20, [], 1_000), "check")
    assert.strictEqual(boundOf(10, [series(90)], 1_000), "agent")
    assert.strictEqual(boundOf(10, [series(90, "other")], 100), "all")
    assert.strictEqual(boundOf(10, [series(90, "other")], 1_000), "not_yet")
  })

  it.effect("reads each hour once for all series, in pieces between which other work goes on", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      const { reader, rows } = open(() => few)
      let turns = 0
      const count = () => {
        turns += 1
        next = setImmediate(count)
      }
      let next = setImmediate(count)
      const { series } = yield* reader.read(quarter)
      clearImmediate(next)
      assert.deepStrictEqual(
        series.map((one) => one.spans.length),
        few.map(() => 93 * 24),
      )
      assert.strictEqual(sum(rows), 93 * 20)
      assert.isAtMost(Math.max(...rows), 200)
      assert.isAtLeast(turns, rows.length - 1)
    }),
  )

  it.effect("has a series of each place of a watch, from the check by which the place reports it", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      const read = Effect.fnUntraced(function* (places: ReadonlyArray<string>, name?: string) {
        const { asked, reader } = open(() => ["days", "duration"], {
          places: places.map((one) => AgentId.make(one)),
        })
        const { series } = yield* reader.read({ ...quarter, step: "1d", ...(name !== undefined && { name }) })
        return { asked: Array.from(new Set(asked)), read: series.map((one) => [one.name, one.place]) }
      })
      assert.deepStrictEqual(yield* read([]), {
        asked: [],
        read: [
          ["days", undefined],
          ["duration", undefined],
        ],
      })
      assert.deepStrictEqual(yield* read(["here", "oslo", "berlin"]), {
        asked: ["berlin/watch:c"],
        read: [
          ["duration", "here"],
          ["duration", "berlin"],
          ["days", undefined],
        ],
      })
      assert.deepStrictEqual((yield* read(["berlin"])).read, [
        ["duration", "berlin"],
        ["days", undefined],
      ])
      assert.deepStrictEqual((yield* read(["here", "berlin"], "days")).read, [["days", undefined]])
    }),
  )

  it.effect("is one read for equal ones at one moment, and of one series reads no others", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      const { reader, rows } = open(() => few)
      const all = yield* Effect.all(
        Array.from({ length: 40 }, () => reader.read(quarter)),
        { concurrency: "unbounded" },
      )
      assert.strictEqual(new Set(all).size, 1)
      assert.strictEqual(sum(rows.splice(0)), 93 * 20)
      yield* reader.read({ ...quarter, name: "v3" })
      assert.strictEqual(sum(rows), 93)
    }),
  )

  it.effect("of the last values costs what it lists, however many names a check has had", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW)
      // A label that changes each day.
      const { reader, rows } = open((start) => few.map((name) => `${name} ${Math.floor(start / DAY)}`))
      const { items } = yield* reader.ofCheck(agent_id, check_id)
      assert.strictEqual(items.length, 93 * 20)
      assert.isTrue(items.every(({ last }) => last === 1))
      assert.isAtMost(rows.length, 300)
      assert.isAtMost(Math.max(...rows), 200)
    }),
  )
})

// Names of pods by Kubernetes, of containers by Docker, of processes and of runs.
it.each([
  ["web-7d9f8b6c5-x2x4z cpu", "web-*-* cpu"],
  ["web-7d9f8b6c5-qwrtz cpu", "web-*-* cpu"],
  ["3f2b8c1e-7a55-4D0E-9b1f-0c6d2e9a4f71 size", "*-*-*-*-* size"],
  ["container.abcdef123456.mem", "container.*.mem"],
  ["container_4fbcdef12345_mem", "container_*_mem"],
  ["worker_12345_rss", "worker_*_rss"],
  ["run-a1b2c3 time", "run-* time"],
  ["time-https facade my-disks", "time-https facade my-disks"],
])("a complaint shows what changes in the name %s as %s", (name, expected) => {
  assert.strictEqual(patternOfName(name), expected)
})

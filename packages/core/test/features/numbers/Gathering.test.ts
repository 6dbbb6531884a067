import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId, EventId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import * as fc from "fast-check"
import { Gathering } from "../../../src/features/numbers/Gathering.ts"
import type { NumberResults } from "../../../src/kernel/model/NumberInput.ts"
import { reachedBounds, type SeriesBound } from "../../../src/features/numbers/NumberBounds.ts"
import { PART_KINDS, startOf } from "../../../src/features/numbers/NumberPart.ts"
import type { CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import type { KnownSeries, NumberPart, PartKind, Spans } from "@tocsin/core/kernel/ports/NumberStorage"

const MINUTE = 60_000
const START = Date.UTC(2026, 2, 1)

const result = (
  check: string,
  at: number,
  { now = at, output = "", agent = "a", millis = 1, isMade = false } = {},
): CheckRef & NumberResults => ({
  agent_id: AgentId.make(agent),
  registration_id: RegistrationId.make(
    `00000000-0000-7000-8000-${Buffer.from(agent).toString("hex").padStart(12, "0")}`,
  ),
  check_id: CheckId.make(check),
  received_at: Instant.fromMillis(now),
  events: [
    {
      check_id: CheckId.make(check),
      event_id: isMade ? undefined : EventId.make("0190a5d0-0000-7000-8000-000000000001"),
      duration_ms: millis,
      observed_at: Instant.fromMillis(at),
      output,
      output_truncated: false,
    },
  ],
})

const stored = (check: string, newest: number, name = "duration"): KnownSeries => {
  const { agent_id, check_id, registration_id } = result(check, newest)
  return { agent_id, check_id, registration_id, name, unit: "s", newest }
}

const nameOf = ({ check_id, kind, name, start, unit }: NumberPart): string =>
  [check_id, name, unit, kind, (start - START) / MINUTE].join(" ")

/** Rows of a storage; writing fails while `isDown`. */
class Rows {
  readonly rows = new Map<string, Spans>()
  isDown = false

  flush(gathering: Gathering): void {
    if (this.isDown) return
    for (const part of gathering.due(gathering.waiting())) {
      const name = nameOf(part)
      this.rows.set(name, part.complete?.(this.rows.get(name) ?? []) ?? part.spans)
      part.settle()
    }
  }
}

const never = (bound: SeriesBound): never => assert.fail(bound)

/** How often each span was measured, and its mean, from the rows. */
const countsOf = (rows: ReadonlyMap<string, Spans>): Record<string, string> =>
  Object.fromEntries(
    Array.from(rows, ([name, spans]) => [
      name,
      spans.map((span) => (span === undefined ? "" : `${span.count}*${span.mean.toFixed(6)}`)).join(","),
    ]).toSorted(),
  )

/** How many maps are made meanwhile. To look for them in the heap takes seconds where files share a process. */
const countMaps = (run: () => void): number => {
  const { Map: plain } = globalThis
  let made = 0
  globalThis.Map = new Proxy(plain, {
    construct: (target, values, newTarget) => {
      made += 1
      return Reflect.construct(target, values, newTarget)
    },
  })
  try {
    run()
  } finally {
    globalThis.Map = plain
  }
  return made
}

describe("gathered numbers", () => {
  it("are written whole, however late they come, and whatever is forgotten meanwhile", () => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ late: fc.integer({ min: 0, max: 4_000 }), value: fc.integer({ max: 99 }) }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ late: fc.integer({ min: -5, max: 70 }), value: fc.integer({ max: 99 }) }),
      },
      { weight: 2, arbitrary: fc.record({ passed: fc.integer({ min: 1, max: 200 }) }) },
      { weight: 2, arbitrary: fc.constant("flush" as const) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const gathering = new Gathering(100, never)
        const rows = new Rows()
        const plain = new Map<string, Array<Array<number>>>()
        let now = START
        for (const one of steps) {
          if (one === "flush") rows.flush(gathering)
          else if ("passed" in one) {
            // A server writes every five minutes.
            for (let passed = 0; passed < one.passed; passed++) {
              now += MINUTE
              if (now % (5 * MINUTE) === 0) rows.flush(gathering)
              assert.strictEqual(gathering.forget(now), 0)
            }
          } else {
            const observed = now - one.late * MINUTE
            const at = Math.min(observed, now)
            gathering.take(result("c", observed, { now, output: `| v=${one.value}` }))
            const kind: PartKind = at < now - 2_880 * MINUTE ? "late" : "hour"
            const start = startOf(kind, at)
            const name = ["c", "v", "", kind, (start - START) / MINUTE].join(" ")
            const places = plain.get(name) ?? []
            plain.set(name, places)
            ;(places[Math.floor((at - start) / PART_KINDS[kind].span)] ??= []).push(one.value)
          }
        }
        rows.flush(gathering)
        const slow = Object.fromEntries(
          Array.from(plain, ([name, places]) => [
            name,
            Array.from({ length: name.includes("late") ? 24 : 12 }, (_, place) => {
              const all = places[place]
              return all === undefined
                ? ""
                : `${all.length}*${(all.reduce((a, b) => a + b, 0) / all.length).toFixed(6)}`
            }).join(","),
          ]).toSorted(),
        )
        const values = new Map(Array.from(rows.rows).filter(([name]) => name.startsWith("c v ")))
        assert.deepStrictEqual(countsOf(values), slow)
      }),
    )
  })

  it("are the rates of counters, while they grow, within an hour", () => {
    const gathering = new Gathering(100, never)
    const rows = new Rows()
    const take = (minutes: number, counter: number) =>
      gathering.take(result("c", START + minutes * MINUTE, { output: `| in=${counter}c` }))
    take(0, 1_000)
    take(1, 1_600)
    // Of the same moment, a restart of the counter, and after a long silence.
    take(1, 9_000)
    take(2, 30)
    take(3, 90)
    take(64, 900_000)
    take(65, 900_060)
    rows.flush(gathering)
    assert.deepStrictEqual(
      countsOf(new Map(Array.from(rows.rows).filter(([name]) => name.includes("in /s")))),
      {
        "c in /s hour 0": "2*5.500000,,,,,,,,,,,",
        "c in /s hour 60": ",1*1.000000,,,,,,,,,,",
      },
    )
  })

  it("have a duration of zero only of a sender that has measured one", () => {
    const gathering = new Gathering(100, never)
    const rows = new Rows()
    for (const [minutes, millis, isMade] of [
      [0, 0],
      [1, 3_000],
      [2, 0],
      [3, 0, true],
      [4, 6_000, true],
    ] as const)
      gathering.take(result("c", START + minutes * MINUTE, { millis, isMade }))
    for (const minutes of [0, 1])
      gathering.take(result("d", START + minutes * MINUTE, { millis: 0, output: "| duration=9s" }))
    rows.flush(gathering)
    assert.deepStrictEqual(countsOf(rows.rows), {
      "c duration s hour 0": "3*3.000000,,,,,,,,,,,",
      "d duration s hour 0": "2*9.000000,,,,,,,,,,,",
    })
  })

  it("have bounds: for a check, for an agent, and in all", () => {
    const refused: Array<string> = []
    const gathering = new Gathering(300, (bound, { agent_id, check_id, name }) =>
      refused.push(`${bound} ${agent_id} ${check_id} ${name}`),
    )
    const many = (from: number, to: number) =>
      `| ${Array.from({ length: to - from }, (_, index) => `v${from + index}=1`).join(" ")}`
    gathering.take(result("c", START, { output: many(0, 25) }))
    assert.deepStrictEqual(
      refused.splice(0),
      ["v19", "v20", "v21", "v22", "v23", "v24"].map((name) => `check a c ${name}`),
    )
    // Those without a value for a day leave room.
    const later = START + 24 * 60 * MINUTE
    gathering.take(result("c", later, { output: many(30, 33) }))
    assert.deepStrictEqual(refused, [])
    gathering.take(result("d", later, { output: many(0, 10) }))
    assert.deepStrictEqual(
      refused.splice(0),
      ["v6", "v7", "v8", "v9"].map((name) => `agent a d ${name}`),
    )
    for (let agent = 0; agent < 9; agent++)
      for (let check = 0; check < 2; check++)
        gathering.take(result(`c${check}`, later, { agent: `b${agent}`, output: many(0, 14) }))
    assert.strictEqual(gathering.seriesCount, 300)
    assert.deepStrictEqual(refused, [])
    gathering.take(result("c", later, { agent: "z" }))
    assert.deepStrictEqual(refused, ["all z c duration"])
  })

  it("of labels that change from run to run give their places after a day, so that other checks have theirs", () => {
    const refused: Array<string> = []
    const gathering = new Gathering(2_000, (bound, { check_id }) => refused.push(`${bound} ${check_id}`))
    for (let day = 0; day < 93; day++) {
      const pods = Array.from({ length: 19 }, (_, pod) => `'pod-${day}-${pod}'=1`)
      gathering.take(
        result("c", START + day * PART_KINDS.day.length, { output: `| ${pods.join(" ")}`, millis: 0 }),
      )
    }
    gathering.take(result("d", START + 93 * PART_KINDS.day.length, { output: "| a=1 b=2" }))
    assert.deepStrictEqual(refused, [])
    assert.isAtMost(gathering.seriesCount, 63)
    assert.strictEqual(gathering.takeEnded().length, 93 * 19 + 3 - gathering.seriesCount)
    assert.deepStrictEqual(gathering.takeEnded(), [])
  })

  it("have the bound of a check for counters, and for series that are stated again", () => {
    const refused: Array<SeriesBound> = []
    const gathering = new Gathering(1_000, (bound) => refused.push(bound))
    const many = (from: number, to: number, unit = "") =>
      `| ${Array.from({ length: to - from }, (_, index) => `v${from + index}=1${unit}`).join(" ")}`
    gathering.take(result("c", START, { output: many(0, 30, "c") }))
    // The duration counts, too.
    assert.strictEqual(refused.splice(0).length, 11)
    const next = START + 1_441 * MINUTE
    gathering.take(result("c", next, { output: many(100, 119) }))
    assert.deepStrictEqual(refused, [])
    gathering.take(result("c", next + MINUTE, { output: many(0, 20, "c") }))
    assert.strictEqual(refused.length, 20)
  })

  it("have no rate that is not finite, and end with their check", () => {
    const gathering = new Gathering(100, never)
    const rows = new Rows()
    gathering.take(result("c", START, { output: "| x=-1.7e308c y=1" }))
    const { agent_id, check_id, registration_id } = result("c", START)
    gathering.take(result("c", START + MINUTE, { output: "| x=1.7e308c y=2" }))
    gathering.take({ agent_id, check_id, registration_id })
    assert.strictEqual(gathering.seriesCount, 0)
    gathering.take(result("c", START + 2 * MINUTE, { output: "| x=5c y=3" }))
    gathering.take(result("c", START + 3 * MINUTE, { output: "| x=5c y=4" }))
    rows.flush(gathering)
    assert.deepStrictEqual(
      Object.entries(countsOf(rows.rows))
        .slice(1)
        .map(([name, spans]) => [name.slice(0, 6), spans.split(",")[0]]),
      [
        ["c x /s", "1*0.000000"],
        ["c y  h", "2*3.500000"],
      ],
    )
  })

  it("count those that are stored already", () => {
    const refused: Array<string> = []
    const gathering = new Gathering(1, (bound) => refused.push(bound))
    gathering.know([stored("c", START)], START)
    gathering.take(result("c", START))
    assert.deepStrictEqual(refused, [])
    gathering.take(result("d", START))
    assert.deepStrictEqual(refused.splice(0), ["all"])
    // A check that is deleted leaves room once its numbers have left the memory.
    gathering.know([], START)
    gathering.take(result("d", START))
    assert.deepStrictEqual(refused.splice(0), ["all"])
    gathering.forget(START + 90 * MINUTE)
    gathering.know([], START + 90 * MINUTE)
    gathering.take(result("d", START + 90 * MINUTE))
    assert.deepStrictEqual(refused, [])
    assert.strictEqual(gathering.seriesCount, 1)
  })

  it("have places by their bounds and then as before, where a check states more than 20", () => {
    const lost: Array<string> = []
    const gathering = new Gathering(1_000, (bound, { name }, values) =>
      lost.push(`${bound} ${name} ${values}`),
    )
    const stated = (names: ReadonlyArray<string>) => names.map((name) => `${name}=1`).join(" ")
    const plain = Array.from({ length: 38 }, (_, n) => `v${n}`)
    const take = (minutes: number, names: ReadonlyArray<string>) =>
      gathering.take(
        result("c", START + minutes * MINUTE, { output: `| ${stated(names)} load=2;3 disk=4;;5` }),
      )
    const kept = () => Array.from(new Set(gathering.waiting().map(({ series }) => series.ref.name)))
    take(0, plain)
    const expected = ["duration", "load", "disk", ...plain.slice(0, 17)]
    assert.sameMembers(kept(), expected)
    assert.strictEqual(lost.length, 21)
    assert.include(lost, "check v37 1")
    // Plugins in Perl state them in another order each time.
    take(1, plain.toReversed())
    assert.sameMembers(kept(), expected)
  })

  it("are named where they reach a bound", () => {
    const of = (checks: number, name: string) =>
      Array.from({ length: checks }, (_, check) => stored(`c${check}`, START, name))
    const one = of(1, "")[0] ?? assert.fail()
    const series = Array.from({ length: 20 }, (_, index) => ({ ...one, name: `v${index}` }))
    const reached = (all: typeof series, most: number, now = START) => reachedBounds(all, { most, now })
    const none = { all: false, agents: [], checks: [] }
    assert.deepStrictEqual(reached(series.slice(1), 1_000), none)
    assert.deepStrictEqual(reached(series, 1_000, START + 1_440 * MINUTE), none)
    assert.deepStrictEqual(reached(series, 1_000), { ...none, checks: [[one.agent_id, one.check_id]] })
    const agents = [one.agent_id]
    assert.deepStrictEqual(reached(of(20, "v"), 200), { ...none, agents })
    assert.deepStrictEqual(reached(of(20, "v"), 20), { ...none, agents, all: true })
  })

  it("of an hour that was written are read again after the clock is set back", () => {
    const gathering = new Gathering(100, never)
    const rows = new Rows()
    gathering.take(result("c", START))
    rows.flush(gathering)
    gathering.forget(START + 90 * MINUTE)
    gathering.take(result("c", START + 2 * MINUTE))
    rows.flush(gathering)
    assert.strictEqual(rows.rows.get("c duration s hour 0")?.[0]?.count, 2)
  })

  it("that cannot be written for half an hour are dropped, and what was stored stays", () => {
    const gathering = new Gathering(100, never)
    const rows = new Rows()
    gathering.take(result("c", START))
    rows.flush(gathering)
    rows.isDown = true
    gathering.take(result("c", START + MINUTE))
    assert.strictEqual(gathering.forget(START + 89 * MINUTE), 0)
    assert.strictEqual(gathering.forget(START + 90 * MINUTE), 1)
    rows.isDown = false
    gathering.take(result("c", START + 2 * MINUTE, { now: START + 91 * MINUTE }))
    rows.flush(gathering)
    assert.strictEqual(rows.rows.get("c duration s hour 0")?.[0]?.count, 2)
  })

  it("go on after the clock was ahead for one result, as if it had not been", () => {
    const refused: Array<string> = []
    const gathering = new Gathering(1_000, (bound, { name }) => refused.push(`${bound} ${name}`))
    const rows = new Rows()
    const many = (name: string) => Array.from({ length: 18 }, (_, index) => `${name}${index}=1`).join(" ")
    const ahead = START + 365 * PART_KINDS.day.length
    gathering.take(result("c", ahead, { output: `| in=1000c ${many("a")}` }))
    rows.flush(gathering)
    gathering.know([stored("c", ahead)], START)
    for (const minutes of [1, 2])
      gathering.take(result("c", START + minutes * MINUTE, { output: `| in=${minutes * 60}c ${many("b")}` }))
    assert.deepStrictEqual(refused, [])
    rows.flush(gathering)
    assert.strictEqual(rows.rows.get("c in /s hour 0")?.[0]?.mean, 1)
    gathering.forget(START + 2 * MINUTE)
    assert.deepStrictEqual(
      gathering.waiting(result("c", START)).map(({ start }) => start),
      Array.from({ length: 20 }, () => START),
    )
  })

  it("of hours that are over leave the memory once they are written, which holds so many of them", () => {
    const gathering = new Gathering(20_000, never)
    const rows = new Rows()
    const days = 34
    const late = result("c", START)
    const [one = assert.fail()] = late.events
    const backlog = () => {
      for (let check = 0; check < 1_000; check++)
        gathering.take({
          ...late,
          events: Array.from({ length: days }, (_, day) => ({
            ...one,
            check_id: CheckId.make(`c${check}`),
            observed_at: Instant.fromMillis(START - day * PART_KINDS.day.length),
          })),
        })
    }
    backlog()
    assert.isTrue(gathering.isCrowded)
    const { length } = gathering.waiting()
    assert.isBelow(length, 34_000)
    assert.strictEqual(gathering.forget(START), 1_000 * days - length)
    rows.flush(gathering)
    assert.isFalse(gathering.isCrowded)
    assert.strictEqual(gathering.waiting(result("c1", START)).length, 1)
  })

  it("take no memory for a check that has none", () => {
    const gathering = new Gathering(100, never)
    const made = countMaps(() => {
      for (let check = 0; check < 1_000; check++) gathering.take(result(`c${check}`, START, { millis: 0 }))
    })
    assert.isBelow(made, 100)
    assert.deepStrictEqual(gathering.waiting(result("c1", START)), [])
  })

  it("of durations are taken at once where the output has no bar and the check has stated one", () => {
    const gathering = new Gathering(100, never)
    const rows = new Rows()
    const isTaken = (minutes: number, of: Parameters<typeof result>[2] = {}) =>
      gathering.takeDurations(result("c", START + minutes * MINUTE, of)).length === 0
    assert.isFalse(isTaken(0))
    gathering.take(result("c", START))
    assert.isFalse(isTaken(1, { output: "OK | v=1" }))
    assert.isTrue(isTaken(2, { millis: 3_001, output: "OK" }))
    assert.isTrue(isTaken(3, { millis: 0, isMade: true }))
    assert.isTrue(isTaken(4, { millis: 1_002 }))
    // A series that is stated again after a day counts for the bound of its check.
    assert.isFalse(isTaken(1_500))
    rows.flush(gathering)
    assert.deepStrictEqual(countsOf(rows.rows), { "c duration s hour 0": "3*1.334667,,,,,,,,,,," })
  })

  it("of one check are due by themselves", () => {
    const gathering = new Gathering(100, never)
    gathering.take(result("c", START, { millis: 1_500 }))
    gathering.take(result("d", START))
    const due = (of?: CheckRef) => gathering.due(gathering.waiting(of))
    const [part, ...others] = due(result("c", START))
    assert.deepStrictEqual(others, [])
    assert.deepInclude(part, { name: "duration", unit: "s", kind: "hour", start: START })
    assert.strictEqual(part?.check_id, "c")
    part?.settle()
    assert.deepStrictEqual(due(result("c", START)), [])
    assert.deepStrictEqual(due(result("e", START)), [])
    assert.strictEqual(due().length, 1)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { AvailabilityState } from "@tocsin/contract/availability/Availability"
import * as Instant from "@tocsin/contract/formats/Instant"
import * as fc from "fast-check"
import {
  type AvailabilityFacts,
  phasesOf,
  type Span,
  sumPhases,
} from "@tocsin/core/heart/availability/availability"
import { atOnce } from "./atOnce.ts"

const at = (seconds: number) => Instant.fromMillis(1_800_000_000_000 + Math.round(seconds * 1_000))
const sumOf = (facts: AvailabilityFacts, span: Span) => sumPhases(atOnce(phasesOf(facts, span)), span)

const END = 120
/** Moments in, before and after the span, with fractions of seconds. */
const moment = fc.double({ min: -20, max: END + 20, noNaN: true }).map(at)
const span = fc.tuple(moment, moment).map(([a, b]) => ({ from: Instant.min(a, b), to: Instant.max(a, b) }))
const status = fc.constantFrom("ok", "warning", "critical", "unknown")
const facts: fc.Arbitrary<AvailabilityFacts> = fc.record({
  changes: fc.array(fc.record({ at: moment, status }), { maxLength: 8 }),
  silent: fc.array(span, { maxLength: 3 }),
  late: fc.array(
    fc
      .tuple(span, fc.constantFrom("warning", "critical", "unknown"))
      .map(([time, severity]) => ({ ...time, severity })),
    { maxLength: 1 },
  ),
  planned: fc.array(
    fc
      .tuple(span, fc.subarray(["warning", "critical", "unknown"] as const))
      .map(([time, covered]) => ({ ...time, covered })),
    { maxLength: 3 },
  ),
})

const SECOND = 1_000_000n
const second = (instant: bigint) => instant / SECOND
const holds = (time: Span, now: bigint) => second(time.from) <= now && now < second(time.to)

/** The state during one second, from the text of the rule. */
const stateIn = ({ changes, late, planned, silent }: AvailabilityFacts, now: bigint): string => {
  const isBy = (place: number) => changes.slice(place).some(({ at: moment }) => second(moment) <= now)
  const known = changes.findLast((_, place) => isBy(place))?.status
  const missed = late.find((time) => holds(time, now))
  const isSilent = silent.some((time) => holds(time, now))
  const state = isSilent ? "no_data" : missed === undefined ? (known ?? "no_data") : "late"
  const severity = state === "no_data" ? "critical" : state === "late" ? (missed?.severity ?? "ok") : state
  const isPlanned = planned.some(
    (window) => holds(window, now) && severity !== "ok" && window.covered.includes(severity),
  )
  return isPlanned ? "planned" : state
}

describe("the availability of a check", () => {
  it("counts each second of a span in the state that the check was in", () => {
    fc.assert(
      fc.property(facts, span, (given, over) => {
        const counted: Record<string, number> = {
          ok: 0,
          warning: 0,
          critical: 0,
          unknown: 0,
          late: 0,
          planned: 0,
          no_data: 0,
        }
        for (let now = second(over.from); now < second(over.to); now += 1n) {
          const state = stateIn(given, now)
          counted[state] = (counted[state] ?? 0) + 1
        }
        assert.deepStrictEqual({ ...sumOf(given, over).seconds }, counted)
      }),
    )
  })

  it("is the sum of its parts, however a span is split", () => {
    fc.assert(
      fc.property(facts, span, moment, (given, over, between) => {
        const middle = Instant.max(over.from, Instant.min(over.to, between))
        const whole = sumOf(given, over).seconds
        const first = sumOf(given, { from: over.from, to: middle }).seconds
        const rest = sumOf(given, { from: middle, to: over.to }).seconds
        for (const state of AvailabilityState.literals) {
          assert.strictEqual(first[state] + rest[state], whole[state])
        }
      }),
    )
  })

  it("goes on after a change that came while the clock was ahead", () => {
    const changes = [
      { at: at(31_536_000), status: "critical" },
      { at: at(60), status: "ok" },
    ] as const
    const { seconds } = sumOf({ changes, silent: [], late: [], planned: [] }, { from: at(0), to: at(120) })
    assert.deepInclude(seconds, { ok: 60, critical: 0, no_data: 60 })
  })

  it("is cut to three decimals, so that one second of a year is no 100 %", () => {
    const year = { from: at(0), to: at(31_536_000) }
    const changes = [
      { at: at(-5), status: "ok" },
      { at: at(50), status: "critical" },
      { at: at(51), status: "ok" },
    ] as const
    assert.strictEqual(sumOf({ changes, silent: [], late: [], planned: [] }, year).percent, 99.999)
    assert.strictEqual(
      sumOf({ changes: changes.slice(0, 1), silent: [], late: [], planned: [] }, year).percent,
      100,
    )
    assert.strictEqual(sumOf({ changes: [], silent: [], late: [], planned: [] }, year).percent, null)
  })
})

it("stops for other work, however often a check changed", () => {
  const from = Instant.fromMicros(0n)
  const changes = Array.from({ length: 5_000 }, (_, n) => ({
    at: Instant.fromMillis(n * 60_000),
    status: n % 2 === 0 ? ("ok" as const) : ("critical" as const),
  }))
  const span = { from, to: Instant.fromMillis(5_000 * 60_000) }
  const work = phasesOf({ changes, silent: [], late: [], planned: [] }, span)
  let [stops, step] = [0, work.next()]
  for (; step.done !== true; step = work.next()) stops += 1
  assert.strictEqual(step.value.length, 5_000)
  assert.isAtLeast(stops, 12)
})

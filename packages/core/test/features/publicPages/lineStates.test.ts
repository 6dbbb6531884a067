import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { LINE_STATES, type LineState } from "@tocsin/contract/publicPages/PublicPages"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import * as fc from "fast-check"
import { type AvailabilityFacts, phasesOf, sumPhases } from "@tocsin/core/heart/availability/availability"
import { KeptDays, LineFold } from "../../../src/features/publicPages/LineFold.ts"
import { statePhasesOf } from "../../../src/features/publicPages/lineStates.ts"
import { daysUntil } from "../../../src/features/publicPages/PageHistory.ts"
import { atOnce } from "../../heart/availability/atOnce.ts"

const START = 1_800_000_000
const END = 1_500
const at = (seconds: number) => Instant.fromMillis(START * 1_000 + Math.round(seconds * 1_000))
/** Moments in, before and after the span, with fractions of seconds. */
const moment = fc.double({ min: -600, max: END + 20, noNaN: true }).map(at)
const span = fc.tuple(moment, moment).map(([a, b]) => ({ from: Instant.min(a, b), to: Instant.max(a, b) }))
const status = fc.constantFrom("ok", "warning", "critical", "unknown")
const facts: fc.Arbitrary<AvailabilityFacts> = fc.record({
  changes: fc
    .array(fc.record({ at: moment, status }), { maxLength: 6 })
    .map((changes) => changes.toSorted((a, b) => (a.at < b.at ? -1 : 1))),
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
    { maxLength: 2 },
  ),
})

const second = (instant: bigint) => Number(instant / 1_000_000n)
const holds = (time: { readonly from: bigint; readonly to: bigint }, now: number) =>
  second(time.from) <= now && now < second(time.to)

/** The states of a check second by second, from the text of the rule. */
const statesOf = ({ changes, late, planned, silent }: AvailabilityFacts): ReadonlyArray<LineState> => {
  let silentFor = 0
  return Array.from({ length: END + 600 }, (_, n) => {
    const now = START - 600 + n
    const reported = changes.findLast((change) => second(change.at) <= now)?.status
    silentFor = silent.some((time) => holds(time, now)) ? silentFor + 1 : 0
    const known = late.find((time) => holds(time, now))?.severity ?? reported
    if (known === undefined) return "no_data"
    const seen = silentFor > 300 ? "critical" : known
    if (seen !== "ok" && planned.some((time) => holds(time, now) && time.covered.includes(seen)))
      return "maintenance"
    return silentFor > 300 || known === "critical" || known === "unknown"
      ? "down"
      : known === "warning"
        ? "degraded"
        : "operational"
  }).slice(600)
}

const whole = { from: at(0), to: at(END) }

describe("the state of a line", () => {
  it("is that of its worst check in each second, and so are its bars", () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: END - 1 }), { maxLength: 4 })
    fc.assert(
      fc.property(fc.array(facts, { maxLength: 3 }), cuts, (checks, inner) => {
        const fold = new LineFold()
        for (const each of checks) fold.add(atOnce(statePhasesOf(each, whole)), atOnce(phasesOf(each, whole)))
        const seconds = checks.map(statesOf)
        const worst = Array.from(
          { length: END },
          (_, now) =>
            LINE_STATES.find((state) => seconds.some((states) => states[now] === state)) ?? "no_data",
        )
        const bounds = [0, ...inner.toSorted((a, b) => a - b), END]
        const spans = bounds.slice(1).map((to, n) => ({ from: at(bounds[n] ?? 0), to: at(to) }))
        for (const [n, day] of atOnce(fold.days(spans)).entries()) {
          const states = worst.slice(bounds[n], bounds[n + 1])
          const state = LINE_STATES.find((each) => states.includes(each))
          assert.strictEqual(day.state, state)
          assert.strictEqual(day.seconds, states.filter((each) => each === state).length)
        }
      }),
      { numRuns: propertyRuns(60) },
    )
  })

  it("of one check has the availability of that check, to the second", () => {
    fc.assert(
      fc.property(facts, (given) => {
        const fold = new LineFold()
        const phases = atOnce(phasesOf(given, whole))
        fold.add(atOnce(statePhasesOf(given, whole)), phases)
        const { critical, late, ok, unknown, warning } = sumPhases(phases, whole).seconds
        const [day] = atOnce(fold.days([whole]))
        assert.deepStrictEqual([day?.ok, day?.judged], [ok, ok + warning + critical + unknown + late])
      }),
    )
  })

  it("counts for the availability while one of its checks is judged, and as ok while all such are", () => {
    const fold = new LineFold()
    const add = (given: Partial<AvailabilityFacts>) => {
      const all = { changes: [], silent: [], late: [], planned: [], ...given }
      fold.add(atOnce(statePhasesOf(all, whole)), atOnce(phasesOf(all, whole)))
    }
    add({ changes: [{ at: at(100), status: "ok" }] })
    add({
      changes: [
        { at: at(0), status: "critical" },
        { at: at(50), status: "ok" },
      ],
      silent: [{ from: at(1_000), to: at(END) }],
    })
    const [day] = atOnce(fold.days([whole]))
    assert.deepStrictEqual([day?.judged, day?.ok], [END, END - 50])
  })
})

describe("the bars of a check that a window covers all the time", () => {
  const planned = [{ ...whole, covered: ["warning", "critical", "unknown"] as const }]
  const states = (changes: AvailabilityFacts["changes"]) =>
    atOnce(statePhasesOf({ changes, silent: [whole], late: [], planned }, whole)).map(({ state }) => state)

  it("have no data until its first result", () => {
    assert.deepStrictEqual(states([]), ["no_data"])
    assert.deepStrictEqual(states([{ at: at(500), status: "critical" }]), ["no_data", "maintenance"])
  })
})

it("the bar of a check that is back has no data while it was withdrawn", () => {
  const changes = [{ at: at(0), status: "ok" }] as const
  const silent = [{ from: at(100), to: at(900), isWithdrawn: true }] as const
  const phases = atOnce(statePhasesOf({ changes, silent, late: [], planned: [] }, whole))
  assert.deepStrictEqual(phases, [
    { from: at(0), state: "operational" },
    { from: at(100), state: "no_data" },
    { from: at(900), state: "operational" },
  ])
})

describe("the days of a page", () => {
  it("are those of its calendar, whose clock may be set", () => {
    const days = daysUntil("Europe/Berlin", Instant.fromMillis(Date.UTC(2026, 9, 26, 22, 59)), 3)
    assert.deepStrictEqual(
      days.map(({ date, from, to }) => [date, Number(to - from) / 3_600_000_000]),
      [
        ["2026-10-26", 24],
        ["2026-10-25", 25],
        ["2026-10-24", 24],
      ],
    )
    const [eve] = daysUntil("Europe/Berlin", Instant.fromMillis(Date.UTC(2026, 9, 24, 21, 30)), 1)
    assert.strictEqual(eve?.date, "2026-10-24")
  })

  it("are kept until as many newer ones are", () => {
    const kept = new KeptDays(2)
    const day = { state: "degraded", seconds: 90_000, judged: 90_000, ok: 1 } as const
    assert.isUndefined(kept.get(20_000))
    kept.set(20_000, day)
    kept.set(20_001, { ...day, state: "down" })
    assert.deepStrictEqual(kept.get(20_000), day)
    kept.set(20_002, { ...day, state: "no_data" })
    assert.deepStrictEqual(
      [20_000, 20_001, 20_002].map((number) => kept.get(number)?.state),
      [undefined, "down", "no_data"],
    )
  })
})

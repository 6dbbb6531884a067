import * as fc from "fast-check"
import type { Happening, How, Policy, Reported, Rota, Route, Step, Story } from "../firings/Story.ts"

const PEOPLE = ["ann", "bob", "chat"]
const MINUTE = 60
const HOUR = 3_600

/** So many minutes or, of one in some, nothing. */
const sometimes = (min: number, max: number, freq: number): fc.Arbitrary<number | undefined> =>
  fc.option(
    fc.integer({ min, max }).map((one) => one * MINUTE),
    { nil: undefined, freq },
  )

const stepsTo = (to: fc.Arbitrary<Array<string>>) =>
  fc
    .tuple(to, fc.array(fc.tuple(fc.integer({ min: 2, max: 14 }), to), { maxLength: 2 }))
    .map(([first, others]) => [
      { to: first },
      // Each later than the one before it.
      ...others
        .toSorted(([one], [other]) => one - other)
        .map(([after, names], place) => ({ after: (after + place) * MINUTE, to: names })),
    ])

const routeTo = (names: ReadonlyArray<string>): fc.Arbitrary<Route> => {
  const to = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 2 })
  const severity = fc.constantFrom("severity = critical", "severity != critical", "severity = warning")
  const match = fc.option(severity, { nil: undefined, freq: 2 })
  const whom = fc.oneof(
    { weight: 1, arbitrary: fc.record({ to }) },
    { weight: 3, arbitrary: fc.record({ steps: stepsTo(to) }) },
  )
  return fc
    .tuple(match, whom, sometimes(15, 40, 2), sometimes(1, 6, 5))
    .map(([matcher, one, remind, after]) => ({
      ...one,
      ...(matcher !== undefined && { match: [matcher] }),
      ...(remind !== undefined && { remind }),
      ...(after !== undefined && { after }),
    }))
}

const rota: fc.Arbitrary<Rota> = fc
  .tuple(
    fc.shuffledSubarray(PEOPLE, { minLength: 2 }),
    fc.constantFrom(1, 2, 4),
    fc.integer({ min: 0, max: 11 }),
  )
  .map(([order, hours, fives]) => ({
    order: order.map((one) => [one]),
    every: hours * HOUR,
    from: `2031-02-01T07:${String(fives * 5).padStart(2, "0")}`,
  }))

const quiet = fc.record({
  from: fc.constantFrom(8 * HOUR, 8.5 * HOUR, 9 * HOUR),
  to: fc.constantFrom(9.5 * HOUR, 10 * HOUR),
  below: fc.constantFrom("critical" as const, "unknown" as const),
})

const policy: fc.Arbitrary<Policy> = fc
  .tuple(fc.constantFrom(0, 0, 1, 2), rota, rota)
  .chain(([count, primary, secondary]) => {
    const rotas = { ...(count > 0 && { primary }), ...(count > 1 && { secondary }) }
    // Rotas are named more often than each person is.
    const names = [...PEOPLE, ...Object.keys(rotas), ...Object.keys(rotas)]
    return fc
      .tuple(
        fc.array(routeTo(names), { minLength: 1, maxLength: 2 }),
        fc.option(fc.constantFrom(0, 120, 1_200), { nil: undefined, freq: 2 }),
        fc.option(quiet, { nil: undefined, freq: 5 }),
      )
      .map(([routes, againAfter, hours]) => ({
        routes,
        ...(count > 0 && { rotas }),
        ...(againAfter !== undefined && { again_after: againAfter }),
        ...(hours !== undefined && { quiet: { chat: hours } }),
      }))
  })

const reported = (check: string, key: string | undefined): fc.Arbitrary<Reported> =>
  fc.record({
    check: fc.constant(check),
    status: fc.constantFrom("ok", "warning", "warning", "unknown", "critical", "critical"),
    loud: fc.integer({ min: 0, max: 9 }).map((one) => one > 0),
    key: fc.constant(key),
  })

const results = fc.uniqueArray(
  fc.oneof(
    { weight: 4, arbitrary: reported("disk", "k") },
    { weight: 1, arbitrary: reported("load", "k") },
    { weight: 1, arbitrary: reported("ping", undefined) },
  ),
  { minLength: 1, maxLength: 2, selector: ({ check }) => check },
)

const lasting = (min: number, max: number) => fc.integer({ min, max }).map((one) => one * 20)
const which = fc.integer({ min: 0, max: 2 })
const receiver = fc.constantFrom(...PEOPLE)
const HOW: ReadonlyArray<How> = ["accepts", "accepts", "defers", "is_down", "refuses", "loses"]
const MATCH = [["agent_id = a"], ["check_id = disk"], ["incident_key = k"]]

/** The name of a step. */
const named = <Name extends Happening["step"]>(name: Name): fc.Arbitrary<Name> => fc.constant(name)

/** The kinds of events, and how often each happens. */
const happening = (hasRota: boolean): fc.Arbitrary<Happening> => {
  const often: ReadonlyArray<readonly [number, fc.Arbitrary<Happening>]> = [
    [12, fc.record({ step: named("report"), agent: fc.constant("a"), results })],
    [3, fc.record({ step: named("acknowledge"), which, lasts: lasting(3, 120) })],
    [1, fc.record({ step: named("withdraw"), which })],
    [2, fc.record({ step: named("silence"), match: fc.constantFrom(...MATCH), lasts: lasting(3, 90) })],
    [1, fc.record({ step: named("expire"), which })],
    [4, fc.record({ step: named("answers"), receiver, how: fc.constantFrom(...HOW) })],
    [1, fc.record({ step: named("tests"), receiver })],
    [1, fc.record({ step: named("stops"), lasts: fc.constantFrom(20, 40, 300, 900) })],
    [1, fc.record({ step: named("clock_back"), by: fc.constantFrom(120, 600, 1_800) })],
    [
      hasRota ? 3 : 0,
      fc.record({
        step: named("override"),
        rota: fc.constant("primary"),
        receivers: receiver.map((one) => [one]),
        after: lasting(0, 60),
        lasts: lasting(6, 120),
      }),
    ],
    [hasRota ? 1 : 0, fc.record({ step: named("end_override"), which })],
  ]
  return fc.oneof(...often.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

/** So that what a step begins, and what lasts whole minutes from there, meets no later step. */
const timed = (what: fc.Arbitrary<Happening>): fc.Arbitrary<Step> =>
  fc.tuple(what, lasting(1, 45)).map(([one, wait]) => ({ ...one, wait: wait + 13 }))

/** An answer is lost, and a key or a link acknowledges meanwhile. */
const pressed: fc.Arbitrary<ReadonlyArray<Step>> = fc
  .tuple(receiver, fc.constantFrom("warning" as const, "critical" as const), which, lasting(3, 60))
  .map(([one, status, at, lasts]) => [
    { step: "answers", receiver: one, how: "loses", wait: 113 },
    { step: "report", agent: "a", results: [{ check: "disk", status, loud: true, key: "k" }], wait: 613 },
    { step: "acknowledge", which: at, lasts, wait: 5 },
  ])

/** Nights of an hour or two, which begin with a check that turns critical. */
const night: fc.Arbitrary<Story> = policy.chain((one) =>
  fc
    .array(
      fc.oneof({ weight: 20, arbitrary: fc.tuple(timed(happening(one.rotas !== undefined))) }, pressed),
      { minLength: 2, maxLength: 12 },
    )
    .map((steps) => ({
      begins: "2031-02-01T08:30Z",
      policy: one,
      receivers: PEOPLE,
      steps: [
        {
          step: "report",
          agent: "a",
          results: [{ check: "disk", status: "critical", loud: true, key: "k" }],
          wait: 20,
        },
        ...steps.flat(),
      ],
    })),
)

/** The night of a number. */
export const nightOf = (number: number): Story => {
  const [story] = fc.sample(night, { numRuns: 1, seed: number })
  if (story === undefined) throw new Error("fast-check drew no night")
  return story
}

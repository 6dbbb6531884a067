import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Result } from "effect"
import * as fc from "fast-check"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  changesAround,
  onCall,
  placesAt,
  type RotaOverride,
  turnsBetween,
  turnsSince,
} from "../../../src/heart/policy/onCall.ts"
import { compilePolicy } from "../../../src/heart/policy/compilePolicy.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"

const NAMES = ["ann", "ann_mail", "bob", "carol", "night"]
const read = (rotas: object) => readPolicy({ rotas }, NAMES)
const rotasOf = (rotas: object) => {
  const found = compilePolicy(Result.getOrThrow(read(rotas)), NAMES).rotas
  if (found === undefined) throw new Error("no rota")
  return found
}
const at = (text: string) => Instant.fromMillis(Date.parse(text))
const override = (
  id: string,
  [starts, ends]: readonly [string, string],
  ...receivers: ReadonlyArray<string>
) =>
  ({
    id,
    rota: "r",
    receivers,
    starts_at: at(starts),
    ends_at: at(ends),
    created_at: at("2026-01-01T00:00Z"),
  }) satisfies RotaOverride

const WEEKLY = { tz: "Europe/Berlin", order: ["ann", "bob"], every: "7d", from: "2026-03-23T09:00" }
const DAILY = { order: ["ann", "bob", "carol"], every: "1d", from: "2026-03-01T02:30" }
const HOURLY = { order: ["ann", "bob"], every: "1h", from: "2026-03-01T00:00" }
const OFFICE = {
  tz: "Europe/Berlin",
  order: [["ann", "ann_mail"], "bob"],
  every: "7d",
  from: "2026-03-02T09:00",
  hours: [{ hours: "08:00-18:00", days: ["mon", "tue", "wed", "thu", "fri"] }],
  otherwise: "night",
}

/** A rota, and who is on call at these moments. */
const MOMENTS: ReadonlyArray<readonly [string, object, ReadonlyArray<readonly [string, string]>]> = [
  [
    "weeks of Berlin, through the change to summer",
    WEEKLY,
    [
      ["2026-03-01T00:00Z", "ann"],
      ["2026-03-23T07:59:59Z", "ann"],
      ["2026-03-30T06:59:59Z", "ann"],
      ["2026-03-30T07:00Z", "bob"],
      ["2026-04-06T06:59:59Z", "bob"],
      ["2026-04-06T07:00Z", "ann"],
      ["2026-10-26T07:59:59Z", "ann"],
      ["2026-10-26T08:00Z", "bob"],
    ],
  ],
  [
    "a turn that begins in Berlin's gap begins with its end",
    { ...DAILY, tz: "Europe/Berlin" },
    [
      ["2026-03-29T00:59:59Z", "ann"],
      ["2026-03-29T01:00Z", "bob"],
      ["2026-03-30T00:29:59Z", "bob"],
      ["2026-03-30T00:30Z", "carol"],
    ],
  ],
  [
    "a turn that begins in a repeated hour of Santiago begins once",
    { ...DAILY, tz: "America/Santiago", from: "2026-04-01T23:30" },
    [
      ["2026-04-05T02:29:59Z", "carol"],
      ["2026-04-05T02:30Z", "ann"],
      ["2026-04-05T03:30Z", "ann"],
      ["2026-04-06T03:29:59Z", "ann"],
      ["2026-04-06T03:30Z", "bob"],
    ],
  ],
  [
    "hours of Lord Howe, whose clock is set back by half of one",
    { ...HOURLY, tz: "Australia/Lord_Howe" },
    [
      ["2026-04-04T13:59:59Z", "ann"],
      ["2026-04-04T14:00Z", "bob"],
      ["2026-04-04T15:29:59Z", "bob"],
      ["2026-04-04T15:30Z", "ann"],
    ],
  ],
  [
    "office hours",
    OFFICE,
    [
      ["2026-03-02T06:59Z", "night"],
      ["2026-03-02T07:00Z", "ann+ann_mail"],
      ["2026-03-09T07:59Z", "ann+ann_mail"],
      ["2026-03-09T08:00Z", "bob"],
      ["2026-03-09T17:00Z", "night"],
      ["2026-03-14T11:00Z", "night"],
    ],
  ],
]

describe("who is on call", () => {
  for (const [name, rota, moments] of MOMENTS)
    it(`${name}`, () => {
      const rotas = rotasOf({ r: rota })
      const found = moments.map(([moment]) => [
        moment,
        onCall(rotas, "r", [], at(moment)).receivers.join("+"),
      ])
      assert.deepEqual(
        found,
        moments.map((one) => [...one]),
      )
    })

  it("the latest override whose receivers the policy has counts", () => {
    const rotas = rotasOf({ r: WEEKLY })
    const overrides = [
      override("a", ["2026-03-24T00:00Z", "2026-03-25T00:00Z"], "carol"),
      override("b", ["2026-03-24T12:00Z", "2026-03-24T18:00Z"], "bob", "carol"),
      override("c", ["2026-03-24T13:00Z", "2026-03-24T14:00Z"], "gone"),
    ]
    const by = (moment: string) => onCall(rotas, "r", overrides, at(moment)).receivers.join("+")
    const moments = ["03-23T23:59Z", "03-24T00:00Z", "03-24T13:30Z", "03-24T18:00Z", "03-25T00:00Z"]
    const found = moments.map((moment) => by(`2026-${moment}`))
    assert.deepEqual(found, ["ann", "carol", "bob+carol", "carol", "ann"])
  })

  it("of two overrides, the one that was created later counts, whatever their ids and order", () => {
    const day = ["2026-03-24T00:00Z", "2026-03-25T00:00Z"] as const
    const former = { ...override("b", day, "bob"), created_at: at("2026-03-20T00:00Z") }
    const later = { ...override("a", day, "carol"), created_at: at("2026-03-21T00:00Z") }
    for (const both of [
      [former, later],
      [later, former],
    ])
      assert.deepEqual(onCall(rotasOf({ r: WEEKLY }), "r", both, at("2026-03-24T12:00Z")).receivers, [
        "carol",
      ])
  })

  it("a rota outside the hours of another has overrides too", () => {
    const rotas = rotasOf({ r: { ...WEEKLY }, s: { ...OFFICE, otherwise: "r" } })
    const overrides = [override("a", ["2026-03-03T20:00Z", "2026-03-03T21:00Z"], "carol")]
    const by = (moment: string) => onCall(rotas, "s", overrides, at(moment)).receivers.join("+")
    assert.deepEqual(["2026-03-03T12:00Z", "2026-03-03T19:59Z", "2026-03-03T20:00Z"].map(by), [
      "ann+ann_mail",
      "ann",
      "carol",
    ])
  })

  it("the places go once round from the present turn, after an override from the turn itself", () => {
    const rotas = rotasOf({ r: { ...DAILY, tz: "UTC" } })
    const names = (moment: string, overrides: ReadonlyArray<RotaOverride> = []) =>
      placesAt(rotas, "r", overrides, at(moment)).map(({ receivers }) => receivers.join("+"))
    assert.deepEqual(names("2026-03-02T12:00Z"), ["bob", "carol", "ann"])
    const taken = override("a", ["2026-03-02T00:00Z", "2026-03-03T00:00Z"], "night")
    assert.deepEqual(names("2026-03-02T12:00Z", [taken]), ["night", "bob", "carol", "ann"])
  })
})

const zone = fc.constantFrom(
  "Europe/Berlin",
  "America/Santiago",
  "Australia/Lord_Howe",
  "UTC",
  "Asia/Kathmandu",
)
const minute = fc.integer({ min: Date.UTC(2026, 2, 20) / 60_000, max: Date.UTC(2026, 10, 10) / 60_000 })
const drawn = fc.record({
  tz: zone,
  every: fc.constantFrom("1h", "2h", "6h", "12h", "1d", "2d", "7d"),
  from: fc.constantFrom("2026-03-01T02:30", "2026-03-22T00:00", "2026-04-04T23:30", "2026-10-01T01:45"),
  order: fc.constantFrom(["ann", "bob"], ["ann", "bob", "carol"], [["ann", "bob"], "carol", "ann"], ["bob"]),
})

const HOURS: ReadonlyMap<string, number> = new Map([
  ["1h", 1],
  ["2h", 2],
  ["6h", 6],
  ["12h", 12],
  ["1d", 24],
  ["2d", 48],
  ["7d", 168],
])

/** The clock of a zone, in milliseconds since 1970 by it. */
const wallOf = (tz: string, millis: number): number => {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: tz, dateStyle: "short", timeStyle: "medium" })
  return Date.parse(`${format.format(millis).replace(" ", "T")}Z`)
}

describe("a rota", () => {
  it("has the turn that the clock has reached, whatever it did in the hours before", () => {
    fc.assert(
      fc.property(drawn, minute, ({ every, from, order, tz }, now) => {
        const turns = Array.from({ length: 37 }, (_, back) => {
          const wall = wallOf(tz, (now - back * 5) * 60_000)
          return Math.floor((wall - Date.parse(`${from}Z`)) / ((HOURS.get(every) ?? 1) * 3_600_000))
        })
        const turn = Math.max(0, ...turns)
        const rotas = rotasOf({ r: { tz, every, from, order } })
        const found = onCall(rotas, "r", [], Instant.fromMillis(now * 60_000)).receivers
        assert.deepEqual(found, [order[turn % order.length] ?? []].flat())
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it("changes only at its changes, and has no gap between turns", () => {
    fc.assert(
      fc.property(drawn, minute, minute, fc.constantFrom("", "night", "s"), (rota, one, other, otherwise) => {
        const hours = { hours: OFFICE.hours, otherwise }
        const rotas = rotasOf({ r: { ...rota, ...(otherwise !== "" && hours) }, s: HOURLY })
        const [from, to] = [Math.min(one, other), Math.min(one, other) + 14_400].map((each) =>
          Instant.fromMillis(each * 60_000),
        )
        if (from === undefined || to === undefined) return
        const ends = ["2026-04-02T10:00Z", "2026-04-05T17:00Z"] as const
        const overrides = [override("a", ends, "carol")]
        const turns = turnsBetween(rotas, "r", overrides, { from, to, most: 1_000 }) ?? []
        assert.deepEqual([turns[0]?.from, turns.at(-1)?.to], [from, to])
        for (const [n, turn] of turns.entries()) {
          assert.equal(turns[n + 1]?.from ?? to, turn.to)
          const middle = Instant.fromMicros((turn.from + turn.to) / 2n)
          assert.deepEqual(onCall(rotas, "r", overrides, middle).receivers, turn.receivers)
          const { before } = changesAround(rotas, "r", overrides, turn.to)
          if (n < turns.length - 1) assert.equal(before, turn.to)
          // Looking again at a later moment would be late.
          const { after } = changesAround(rotas, "r", overrides, middle)
          if (n < turns.length - 1) assert.isTrue(after !== undefined && after <= turn.to)
        }
      }),
      { numRuns: propertyRuns(150) },
    )
  })
})

describe("turns of a rota", () => {
  it("do not change with an override that ended before it began, or as it began", () => {
    const rotas = rotasOf({ r: WEEKLY })
    const [middle, others] = [at("2026-04-02T12:00Z"), ["2026-04-02T10:00Z", "2026-04-02T14:00Z"]] as const
    const plain = changesAround(rotas, "r", [], middle)
    assert.deepStrictEqual(plain, { before: at("2026-03-30T07:00Z"), after: at("2026-04-06T07:00Z") })
    const [early, late] = others
    for (const times of [
      [late, early],
      [early, early],
      [late, late],
    ] as const)
      assert.deepStrictEqual(changesAround(rotas, "r", [override("o", times, "carol")], middle), plain)
    const counts = changesAround(rotas, "r", [override("o", [early, late], "carol")], middle)
    assert.deepStrictEqual(counts, { before: at(early), after: at(late) })
  })

  it("begin with the first one, but for an override before it", () => {
    const turn = (by: "override" | "turn", from: string, to: string) =>
      ({ receivers: ["ann"], by, from: at(from), to: at(to) }) as const
    const first = at("2026-03-23T08:00Z")
    const turns = [
      turn("turn", "2026-03-01T08:00Z", "2026-03-10T08:00Z"),
      turn("override", "2026-03-10T08:00Z", "2026-03-11T08:00Z"),
      turn("turn", "2026-03-11T08:00Z", "2026-03-23T08:00Z"),
      turn("turn", "2026-03-20T08:00Z", "2026-03-24T08:00Z"),
    ]
    const cut = turn("turn", "2026-03-23T08:00Z", "2026-03-24T08:00Z")
    assert.deepStrictEqual(turnsSince(turns, first), [...turns.slice(1, 2), cut])
    assert.deepStrictEqual(turnsSince(turns), turns)
  })
})

describe("the problems of rotas", () => {
  const cases: ReadonlyArray<readonly [string, object, ReadonlyArray<string>]> = [
    ["none", { r: OFFICE, s: { ...WEEKLY } }, []],
    ["a name of a receiver", { ann: WEEKLY }, ["rotas.ann: is the name of a receiver too"]],
    ["a kind", { debug: WEEKLY }, ["rotas.debug: must not be named like a kind"]],
    [
      "a day that is none",
      { r: { ...WEEKLY, from: "2026-02-30T09:00" } },
      ["rotas.r.from: must be a day that the calendar has"],
    ],
    [
      "otherwise alone",
      { r: { ...WEEKLY, otherwise: "bob" } },
      ["rotas.r.otherwise: must be absent without hours"],
    ],
    [
      "hours alone",
      { r: { ...WEEKLY, hours: OFFICE.hours } },
      ["rotas.r.otherwise: is missing: who is on call outside the hours?"],
    ],
    [
      "a rota as a turn",
      { r: { ...WEEKLY, order: ["s"] }, s: WEEKLY },
      ["rotas.r.order.0: is a rota; name receivers here"],
    ],
    [
      "a rota with otherwise",
      { r: { ...OFFICE, otherwise: "s" }, s: OFFICE },
      ["rotas.r.otherwise: must be a rota without otherwise"],
    ],
    [
      "days and hours",
      { r: { ...WEEKLY, every: "36h" } },
      [
        "rotas.r.every: must be whole days (1d to 31d), or hours that divide a day: 1h, 2h, 3h, 4h, 6h, 8h or 12h",
      ],
    ],
    [
      "an unknown zone",
      { r: { ...WEEKLY, tz: "Berlin" } },
      ["rotas.r.tz: must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST"],
    ],
    [
      "hours that are none",
      { r: { ...OFFICE, hours: [{ hours: "08:00-08:00" }] } },
      ["rotas.r.hours.0.hours: must not end when they begin"],
    ],
  ]
  for (const [name, rotas, problems] of cases)
    it(`${name}`, () => {
      const found = Result.match(read(rotas), {
        onSuccess: () => [],
        onFailure: (failure) => failure.map(({ message, path }) => `${path.join(".")}: ${message}`),
      })
      assert.deepEqual(found, problems)
    })
})

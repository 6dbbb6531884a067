import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { type Fails, HERE } from "@tocsin/contract/watches/places"
import { Duration } from "effect"
import {
  type Around,
  decidePlaces,
  decideStatus,
  followPlace,
  type Judged,
  type PlaceState,
  shownPlaces,
} from "../../../src/features/watches/placeDecisions.ts"

const LETTERS: Readonly<Record<string, CheckStatus>> = {
  o: "ok",
  w: "warning",
  c: "critical",
  u: "unknown",
}
const statuses = (letters: string): ReadonlyArray<CheckStatus> =>
  Array.from(letters, (letter) => LETTERS[letter] ?? "ok")

describe("places decide by their confirmed statuses", () => {
  it.each<[counting: string, fails: Fails, places: number, decided: CheckStatus | undefined]>([
    // More than half of those that count.
    ["o", "majority", 1, "ok"],
    ["c", "majority", 1, "critical"],
    ["co", "majority", 2, "ok"],
    ["cc", "majority", 2, "critical"],
    ["cco", "majority", 3, "critical"],
    ["coo", "majority", 3, "ok"],
    ["cwo", "majority", 3, "warning"],
    ["cwoo", "majority", 4, "ok"],
    ["ccwo", "majority", 4, "warning"],
    ["cccc", "majority", 4, "critical"],
    ["wwo", "majority", 3, "warning"],
    // One.
    ["ooc", "any", 3, "critical"],
    ["oow", "any", 3, "warning"],
    ["ooo", "any", 3, "ok"],
    ["wc", "any", 2, "critical"],
    // All.
    ["cco", "all", 3, "ok"],
    ["ccw", "all", 3, "warning"],
    ["ccc", "all", 3, "critical"],
    // A number.
    ["cco", 2, 3, "critical"],
    ["coo", 2, 3, "ok"],
    ["cwo", 2, 3, "warning"],
    ["coo", 1, 3, "critical"],
    ["c", 2, 1, undefined],
    ["cc", 3, 2, undefined],
    // Nobody counts.
    ["", "majority", 0, undefined],
    ["", "any", 0, undefined],
    ["", "all", 0, undefined],
    // In the first periods, the part is of all places.
    ["c", "majority", 3, undefined],
    ["cc", "majority", 3, "critical"],
    ["co", "majority", 3, "ok"],
    ["c", "any", 3, "critical"],
    ["o", "any", 3, "ok"],
    ["cc", "all", 3, undefined],
    ["ccc", "all", 3, "critical"],
    // A place may count whose confirmed status is unknown: it exceeds a warning.
    ["uuo", "majority", 3, "warning"],
    ["ucc", "all", 3, "warning"],
  ])("%s by %s of %s: %s", (counting, fails, places, decided) => {
    assert.strictEqual(decideStatus(statuses(counting), { fails, places }), decided)
  })
})

const NOW = Instant.fromMillis(1_772_323_200_000)
const ago = (seconds: number): Instant.Instant => Instant.minus(NOW, Duration.seconds(seconds))
const place = (name: string) => AgentId.make(name)

const followed = (letters: string, limits = { bad: 2, good: 1 }): PlaceState | undefined =>
  statuses(letters).reduce<PlaceState | undefined>(
    (state, status, n) => followPlace(state, { at: ago(30), status, output: `HTTP ${n} ${status}` }, limits),
    undefined,
  )

describe("confirmation of a place", () => {
  it.each<[results: string, limits: { bad: number; good: number }, counted: CheckStatus | undefined]>([
    ["o", { bad: 2, good: 1 }, "ok"],
    ["c", { bad: 2, good: 1 }, undefined],
    ["cc", { bad: 2, good: 1 }, "critical"],
    ["cw", { bad: 2, good: 1 }, "warning"],
    ["co", { bad: 2, good: 1 }, "ok"],
    ["oc", { bad: 2, good: 1 }, "ok"],
    ["occ", { bad: 2, good: 1 }, "critical"],
    ["ococ", { bad: 2, good: 1 }, "ok"],
    ["ccw", { bad: 2, good: 1 }, "warning"],
    ["o", { bad: 1, good: 2 }, undefined],
    ["oo", { bad: 1, good: 2 }, "ok"],
    ["oco", { bad: 2, good: 2 }, undefined],
    ["c", { bad: 1, good: 2 }, "critical"],
    ["cco", { bad: 2, good: 2 }, "critical"],
    ["ccoo", { bad: 2, good: 2 }, "ok"],
  ])("%s with %j: %s", (results, limits, counted) => {
    assert.strictEqual(followed(results, limits)?.counted, counted)
  })
})

const around: Around = { now: NOW, isAccepted: () => true, cutOffSince: () => undefined }
const state = (status: CheckStatus, more: Partial<PlaceState> = {}): PlaceState => {
  const output = `HTTP ${status.toUpperCase()} - ${status === "ok" ? "200" : "502"} https://shop.example/ in 3.100 s | time=3.1s`
  return { at: ago(30), status, output, counted: status, said: output, against: 0, ...more }
}
const judged = (states: Readonly<Record<string, PlaceState>>, more: Partial<Judged> = {}): Judged => ({
  every_millis: 60_000,
  from: [HERE, place("berlin"), place("helsinki"), place("oslo")],
  fails: "majority",
  since: ago(3_600),
  states: new Map(Object.entries(states).map(([name, one]) => [place(name), one])),
  ...more,
})

describe("the output of places", () => {
  it("names those that count, the worst first, and why others do not", () => {
    const silent = "HTTP CRITICAL - no answer within 10 s"
    const given = judged({
      berlin: state("critical"),
      helsinki: state("critical", { output: silent, said: silent }),
      here: state("ok"),
      oslo: state("ok", { at: ago(151) }),
    })
    assert.deepStrictEqual(decidePlaces(given, around), {
      status: "critical",
      output: [
        "critical from 2 of 3 places: berlin 502 https://shop.example/ in 3.100 s; helsinki no answer within 10 s; here ok; oslo late",
        "berlin: HTTP CRITICAL - 502 https://shop.example/ in 3.100 s",
        "helsinki: HTTP CRITICAL - no answer within 10 s",
        "here: HTTP OK - 200 https://shop.example/ in 3.100 s",
        "oslo: HTTP OK - 200 https://shop.example/ in 3.100 s",
      ].join("\n"),
    })
  })

  const line = (given: Judged, more: Partial<Around> = {}) =>
    decidePlaces(given, { ...around, ...more })?.output.split("\n")[0]

  it("counts a worse status with it, and of ok those that are ok", () => {
    const mixed = { berlin: state("critical"), helsinki: state("warning"), oslo: state("ok") }
    assert.match(line(judged(mixed)) ?? "", /^warning from 2 of 3 places: berlin 502/)
    const well = { berlin: state("critical"), helsinki: state("ok"), oslo: state("ok") }
    assert.match(line(judged(well)) ?? "", /^ok from 2 of 3 places: berlin 502/)
    assert.match(
      line(judged({ here: state("ok") })) ?? "",
      /^ok from 1 of 1 place: here ok; berlin not heard/,
    )
  })

  it("says why a place does not count", () => {
    const given = judged(
      {
        berlin: state("ok"),
        helsinki: state("unknown", { output: "HTTP UNKNOWN - this place may not reach 10.0.0.1" }),
        oslo: { at: ago(30), status: "critical", output: "HTTP CRITICAL - x", against: 1 },
        rome: state("ok"),
      },
      { from: ["berlin", "helsinki", "oslo", "paris", "rome"].map(place) },
    )
    assert.strictEqual(
      line(given, { isAccepted: (one) => one !== place("rome") }),
      "ok from 1 of 1 place: berlin ok; helsinki this place may not reach 10.0.0.1; oslo unconfirmed; paris not heard; rome not accepted",
    )
    assert.deepStrictEqual(
      shownPlaces(given, around).map(({ counts, status }) => [status, counts]),
      [
        ["ok", true],
        ["unknown", false],
        [null, false],
        [null, false],
        ["ok", true],
      ],
    )
  })

  it("leaves out a place that is cut off while another one counts, else for two minutes", () => {
    const both = judged({ berlin: state("critical"), here: state("ok") })
    const cut = (seconds: number) => ({
      cutOffSince: (one: AgentId) => (one === place("berlin") ? ago(seconds) : undefined),
    })
    assert.match(line(both, cut(500)) ?? "", /^ok from 1 of 1 place: here ok; berlin cut off;/)
    const alone = judged({ berlin: state("critical") })
    assert.isUndefined(line(alone, cut(119)))
    assert.match(line(alone, cut(121)) ?? "", /^critical from 1 of 1 place: berlin 502/)
  })

  it("decides by all places at first", () => {
    const one = { berlin: state("critical") }
    assert.isUndefined(decidePlaces(judged(one, { since: ago(150) }), around))
    assert.strictEqual(decidePlaces(judged(one, { since: ago(151) }), around)?.status, "critical")
  })

  it("cuts words at 80 characters", () => {
    const output = `HTTP CRITICAL - ${"x".repeat(100)}`
    const given = judged({ berlin: state("critical", { output, said: output }) })
    assert.include(line(given) ?? "", `berlin ${"x".repeat(79)}…;`)
  })
})

import { describe, expect, it } from "@effect/vitest"
import { Duration, Result } from "effect"
import * as fc from "fast-check"
import { readPolicy } from "../../../src/lists/readPolicy.ts"
import {
  compileRoutes,
  leastOf,
  type NamedReceiver,
  type RouteId,
} from "../../../src/heart/policy/routing.ts"
import { AgentId, CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import type { Severity } from "@tocsin/contract/formats/Status"
import type { MatchedFacts } from "@tocsin/contract/labels/Matcher"

const names = ["chat", "mail", "pager"]

const facts = (severity: Severity, team: string): MatchedFacts => ({
  agent_id: AgentId.make("a"),
  check_id: CheckId.make("c"),
  incident_key: IncidentKey.make("a/c"),
  hostname: "h",
  severity,
  labels: { team },
})

const routing = (
  routes: ReadonlyArray<object>,
  { openings = 1, severity = "critical" as Severity, team = "db" } = {},
) => {
  const { routes: read = [] } = Result.getOrThrow(readPolicy({ routes }, names))
  const { match, name } = compileRoutes(read, names)
  const found = new Set<RouteId>()
  match(facts(severity, team), found)
  return Object.fromEntries(
    Array.from(
      name(found, () => openings),
      ([receiver, { first, later, remind }]) => [
        receiver,
        [
          ...(first ? [Duration.toSeconds(first)] : []),
          ...later.map((delay) => `later ${Duration.toSeconds(delay)}`),
          ...(remind ? [Duration.format(remind)] : []),
        ],
      ],
    ),
  )
}

it("a later step is by rotas alone where none names its receiver itself, in each order", () => {
  const [early, late] = [Duration.minutes(5), Duration.minutes(15)]
  const delays = { first: undefined, remind: undefined }
  const itself: NamedReceiver = { ...delays, later: [late] }
  const byRota = (rota: string): NamedReceiver => {
    const laterRotas = new Map([early, late].map((delay) => [Duration.toMillis(delay), [rota]]))
    return { ...delays, later: [early, late], rotas: [rota], laterRotas }
  }
  const [a, b] = [byRota("a"), byRota("b")]
  const orders = [
    [itself, a, b],
    [a, itself, b],
    [a, b, itself],
    [b, a, itself],
  ] as const
  for (const [one, two, three] of orders) {
    const { laterRotas } = leastOf(leastOf(one, two), three)
    expect(Array.from(laterRotas ?? [], ([delay, rotas]) => [delay, rotas.toSorted()])).toEqual([
      [300_000, ["a", "b"]],
    ])
  }
})

describe("routes", () => {
  const everyone = { chat: [0], mail: [0], pager: [0] }

  it("notify every receiver immediately where there are none, or none matches", () => {
    expect(routing([])).toEqual(everyone)
    expect(routing([{ match: ["severity = warning"], to: ["chat"] }])).toEqual(everyone)
  })

  it("without to or steps mean every receiver", () => {
    expect(routing([{ match: ["label:team = db"], remind: "1h" }])).toEqual({
      chat: [0, "1h"],
      mail: [0, "1h"],
      pager: [0, "1h"],
    })
  })

  it("unite their receivers, and the least of each time counts", () => {
    expect(
      routing([
        { after: "5m", remind: "4h", steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] },
        { after: "1m", remind: "1h", steps: [{ to: ["mail"] }, { after: "10m", to: ["pager", "chat"] }] },
      ]),
    ).toEqual({
      chat: [300, "later 600", "1h"],
      mail: [60, "1h"],
      pager: ["later 600", "later 900", "1h"],
    })
  })

  it("name every receiver for a member that none matches, beside one that a route matches", () => {
    const { routes = [] } = Result.getOrThrow(
      readPolicy({ routes: [{ match: ["label:team = db"], to: ["chat"] }] }, names),
    )
    const { match, name } = compileRoutes(routes, names)
    const found = new Set<RouteId>()
    for (const team of ["db", "web"]) match(facts("critical", team), found)
    expect(Array.from(name(found, () => 0).keys()).toSorted()).toEqual(names)
  })

  it("notify no later step before the first", () => {
    const steps = [{ to: ["chat"] }, { after: "15m", to: ["pager"] }]
    expect(routing([{ after: "1h", steps }])).toEqual({ chat: [3600], pager: ["later 3600"] })
  })

  it("have a first step beside a later one at the same time", () => {
    const later = { steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] }
    const both = routing([later, { after: "15m", to: ["pager"] }])
    expect(both).toEqual({ chat: [0], pager: [900, "later 900"] })
  })

  it("name a receiver first that a slower route names first, whatever their order", () => {
    const routes = [
      { steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] },
      { after: "1h", to: ["pager"] },
    ]
    for (const both of [routes, routes.toReversed()])
      expect(routing(both)).toEqual({ chat: [0], pager: [3600, "later 900"] })
  })

  it("wait longer for a key that flaps", () => {
    const routes = [{ after: "1m", flapping: { openings: 4, within: "1h", after: "10m" } }]
    expect(routing(routes, { openings: 3 })).toEqual({ chat: [60], mail: [60], pager: [60] })
    expect(routing(routes, { openings: 4 })).toEqual({ chat: [600], mail: [600], pager: [600] })
  })

  it("give the same whatever their order", () => {
    const duration = fc.constantFrom("1m", "5m", "15m", "1h")
    const to = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 })
    const route = fc.record(
      {
        after: duration,
        remind: fc.constantFrom("15m", "1h"),
        to,
        match: fc.constantFrom(["label:team = db"], ["severity = warning"]),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.array(route, { maxLength: 4 }), (routes) => {
        expect(routing(routes.toReversed())).toEqual(routing(routes))
      }),
      { numRuns: 100 },
    )
  })
})

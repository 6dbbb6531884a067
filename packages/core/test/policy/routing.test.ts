import { describe, expect, it } from "@effect/vitest"
import { Duration, Result } from "effect"
import * as fc from "fast-check"
import { readPolicy } from "../../src/policy/readPolicy.ts"
import { compileRoutes } from "../../src/policy/routing.ts"
import { AgentId, CheckId, IncidentKey } from "@tocsin/contract/Identifiers"
import type { Severity } from "@tocsin/contract/Status"
import type { MatchedFacts } from "@tocsin/contract/Matcher"

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
  const { after, remind, delays } = compileRoutes(read, names)(facts(severity, team))
  return {
    after: Duration.toSeconds(after(() => openings)),
    remind: remind && Duration.toSeconds(remind),
    delays: Object.fromEntries(Array.from(delays, ([name, turn]) => [name, Duration.toSeconds(turn)])),
  }
}

describe("routes", () => {
  const everyone = { after: 0, remind: undefined, delays: { chat: 0, mail: 0, pager: 0 } }

  it("notify every receiver immediately where there are none, or none matches", () => {
    expect(routing([])).toEqual(everyone)
    expect(routing([{ match: ["severity = warning"], to: ["chat"] }])).toEqual(everyone)
  })

  it("without to or steps mean every receiver", () => {
    expect(routing([{ match: ["label:team = db"], remind: "1h" }])).toEqual({ ...everyone, remind: 3_600 })
  })

  it("unite their receivers, and the least of each time counts", () => {
    expect(
      routing([
        { after: "5m", remind: "4h", steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] },
        { after: "1m", remind: "1h", steps: [{ to: ["mail"] }, { after: "10m", to: ["pager", "chat"] }] },
      ]),
    ).toEqual({ after: 60, remind: 3_600, delays: { chat: 0, mail: 0, pager: 600 } })
  })

  it("wait longer for a key that flaps", () => {
    const routes = [{ after: "1m", flapping: { openings: 4, within: "1h", after: "10m" } }]
    expect(routing(routes, { openings: 3 }).after).toBe(60)
    expect(routing(routes, { openings: 4 }).after).toBe(600)
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

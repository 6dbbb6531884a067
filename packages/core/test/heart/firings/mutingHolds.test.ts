import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as fc from "fast-check"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { LoudFacts } from "../../../src/heart/firings/loudMembers.ts"
import { type Mute, mutingHolds } from "../../../src/heart/firings/mutes.ts"
import { indexMatchers } from "../../../src/heart/policy/indexMatchers.ts"
import { compileMatchers, type MatchedFacts, parseMatcher } from "@tocsin/contract/labels/Matcher"

const at = (seconds: number) => Instant.fromMillis(seconds * 1_000)
const member = (agent_id: string, severity = "critical"): MatchedFacts =>
  // Literals stand for branded ids here.
  ({ agent_id, check_id: "disk", incident_key: "k", hostname: "h", severity, labels: {} }) as MatchedFacts

const mute = (name: string, until: number, ...texts: ReadonlyArray<string>): Mute => ({
  by: `silence:${name}`,
  until: at(until),
  matchers: texts.map((text) => Result.getOrThrow(parseMatcher(text))),
})

const holdsOn = (mutes: ReadonlyArray<Mute>, loud: LoudFacts) =>
  mutingHolds({ mutes, find: indexMatchers(mutes.map(({ matchers }) => matchers)) }, loud)

describe("silences and windows", () => {
  describe("of 500 members under 1,000 silences of 20 matchers", () => {
    const others = Array.from({ length: 19 }, (_, n) => `check_id != other${n}`)
    const mutes = Array.from({ length: 1_000 }, (_, n) => mute(`${n}`, 2_000, ...others, `agent_id = a${n}`))
    /** Members that count how often they are read: once for each comparison. */
    const counted = (names: ReadonlyArray<string>) => {
      let reads = 0
      const members = names.map(
        (name) => new Proxy(member(name), { get: (...given) => ((reads += 1), Reflect.get(...given)) }),
      )
      return { loud: { kind: "listed", members } as const, reads: () => reads }
    }
    const names = Array.from({ length: 499 }, (_, n) => `a${n}`)

    it.each([
      ["the first is uncovered", ["none", ...names], 0],
      ["the last is uncovered", [...names, "none"], 0],
      ["all are covered", [...names, "a499"], 500],
    ] as const)("compare each member only with silences that name it, where %s", (_, all, count) => {
      const { loud, reads } = counted(all)
      expect(holdsOn(mutes, loud)).toHaveLength(count)
      // A look into the index for each member, and the matchers of the one silence of its agent.
      expect(reads()).toBeLessThanOrEqual(all[0] === "none" ? 1 : 500 * 21)
    })
  })

  it("need every loud member covered, by one silence or by several", () => {
    const loud = { kind: "listed", members: [member("a"), member("b")] } as const
    const one = mute("one", 2_000, "agent_id = a")
    expect(holdsOn([one], loud)).toEqual([])
    const both = [one, mute("two", 3_000, "agent_id = b")]
    expect(holdsOn(both, loud)).toEqual([
      { by: "silence:one", until: at(2_000) },
      { by: "silence:two", until: at(2_000) },
    ])
  })

  it("are none by a silence where no member is loud", () => {
    const loud = { kind: "listed", members: [] } as const
    expect(holdsOn([mute("all", 2_000, "agent_id glob *a*")], loud)).toEqual([])
  })

  it("of a crowd look only at what its members share", () => {
    const loud = {
      kind: "too_many",
      shared: { incident_key: member("a").incident_key, severity: "critical" },
      members: [],
    } as const
    const by = (...texts: ReadonlyArray<string>) => holdsOn([mute("s", 2_000, ...texts)], loud).length
    expect(by("incident_key = k", "severity = critical")).toBe(1)
    expect(by("incident_key = k", "severity = warning")).toBe(0)
    expect(by("incident_key = k", "agent_id glob *a*")).toBe(0)
    expect(by("incident_key = k", "check_id != x")).toBe(0)
  })

  it("by covers hold exactly while every member is covered, and say until when", () => {
    const agents = ["a", "b", "c"]
    const mutes = fc.array(
      fc.record({ agent: fc.constantFrom(...agents), until: fc.integer({ min: 1_001, max: 1_010 }) }),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(
        mutes,
        fc.subarray(agents, { minLength: 1 }),
        fc.integer({ min: 1_000, max: 1_012 }),
        (drawn, loud, seconds) => {
          const members = loud.map((name) => member(name))
          const inForceAt = (moment: Instant.Instant) =>
            drawn
              .map(({ agent, until }, n) => mute(String(n), until, `agent_id = ${agent}`))
              .filter(({ until }) => moment < until)
          const isCoveredAt = (moment: Instant.Instant) =>
            members.every((one) => inForceAt(moment).some(({ matchers }) => compileMatchers(matchers)(one)))
          const holds = holdsOn(inForceAt(at(seconds)), { kind: "listed", members })
          expect(holds.length > 0).toBe(isCoveredAt(at(seconds)))
          for (const { until } of holds) {
            expect(isCoveredAt(Instant.fromMicros(until - 1n))).toBe(true)
            expect(isCoveredAt(until)).toBe(false)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})

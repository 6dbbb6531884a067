import { describe, expect, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration } from "effect"
import { holdByParents } from "../../../src/heart/firings/parentHolds.ts"
import { NO_PARENTS } from "../../../src/heart/firings/parents.ts"

const second = (n: number) => Instant.fromMillis(1_900_000_000_000 + n * 1_000)
const GRACE = { ...NO_PARENTS, grace: Duration.seconds(200) }

describe("a parent", () => {
  const looksAgain = (parent: object, heldBy: ReadonlyArray<"parent:a"> = []) => {
    const row = {
      holds: heldBy.map((by) => ({ by })),
      created_at: second(0),
      age_starts_at: second(0),
      next_evaluation_at: undefined,
    }
    const parents = { ...GRACE, names: ["parent:a"], isPresent: true, ...parent } as const
    const { inForce } = holdByParents(row, parents, { now: second(100) })
    return inForce.map(({ by, lookAgainAt }) => [by, lookAgainAt])
  }

  it("is looked for again after 15 s where it is new, or a stale agent, and needs no grace", () => {
    expect(looksAgain({})).toEqual([["parent:a", second(115)]])
    expect(looksAgain({ isStale: true }, ["parent:a"])).toEqual([["parent:a", second(115)]])
    expect(looksAgain({}, ["parent:a"])).toEqual([["parent:a", undefined]])
  })
})

describe("the grace of a dependency", () => {
  it.each([
    ["counts from when a firing is due", { created: 0, from: 0, heldBy: undefined }, 200],
    ["ends once for a firing that was free before", { created: 0, from: 50, heldBy: undefined }, undefined],
    [
      "counts from the setback of a clock that was ahead",
      { created: 1_800, from: 30, heldBy: "parent_grace" },
      230,
    ],
    ["counts from a setback just after the firing", { created: 130, from: 130, heldBy: undefined }, 300],
    ["does not begin again after a setback", { created: 1_800, from: 50, heldBy: undefined }, undefined],
  ] as const)("%s", (_, { created, from, heldBy }, until) => {
    const row = {
      created_at: second(created),
      age_starts_at: second(from),
      holds: heldBy && [{ by: heldBy }],
      next_evaluation_at: heldBy && second(until ?? 0),
    }
    const { inForce } = holdByParents(row, GRACE, { now: second(100) })
    expect(inForce).toEqual(until === undefined ? [] : [{ by: "parent_grace", until: second(until) }])
  })
})

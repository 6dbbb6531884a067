import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { compareReplicas, type PolicyDifference } from "@tocsin/core/heart/replicas/replicaState"

const START = Instant.fromMillis(Date.UTC(2026, 0, 1))

/** The policies that live replicas follow at a second, and the notice that their comparison logs. */
type Seen = readonly [second: number, policies: string, notice?: "differ" | "equal"]

const notices = (story: ReadonlyArray<Seen>): ReadonlyArray<Seen> => {
  let difference: PolicyDifference | undefined
  return story.map(([second, policies]) => {
    const now = Instant.plus(START, Duration.seconds(second))
    const replicas = [...policies].map((policy_hash, at) => ({
      id: String(at),
      version: "1.0.0",
      policy_hash,
      receivers: [],
      probes: false,
      agent_sha256: undefined,
      known_names: undefined,
      started_at: now,
      seen_at: now,
      ended_at: undefined,
    }))
    const [next, notice] = compareReplicas(difference, replicas, now)
    difference = next
    return notice === undefined ? [second, policies] : [second, policies, notice]
  })
}

const STORIES: Readonly<Record<string, ReadonlyArray<Seen>>> = {
  "servers that follow a new policy one after another": [
    [0, "aa"],
    [15, "ba"],
    [30, "bb"],
    [45, "bb"],
  ],
  "a server that does not follow": [
    [0, "ba"],
    [15, "ba"],
    [29, "ba"],
    [30, "ba", "differ"],
    [45, "ba"],
    [629, "ba"],
    [630, "ba", "differ"],
    [645, "bb", "equal"],
    [660, "bb"],
  ],
  "another difference while one is logged": [
    [0, "ba"],
    [30, "ba", "differ"],
    [45, "bc"],
    [60, "bc"],
    [75, "bc", "differ"],
    [90, "cc", "equal"],
  ],
  "an end before the second difference is logged": [
    [0, "ba"],
    [30, "ba", "differ"],
    [45, "bc"],
    [60, "cc", "equal"],
  ],
  "a clock that is set back by a day": [
    [86_400, "ba"],
    [86_430, "ba", "differ"],
    [0, "ba"],
    [599, "ba"],
    [600, "ba", "differ"],
  ],
  "a clock that is set back before the difference is logged": [
    [86_400, "ba"],
    [0, "ba"],
    [30, "ba", "differ"],
  ],
  "one server": [
    [0, "a"],
    [60, "b"],
  ],
}

describe("servers with different policies", () => {
  for (const [name, story] of Object.entries(STORIES))
    it(`log it once it lasts: ${name}`, () => assert.deepStrictEqual(notices(story), story))
})

import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  AgentProcessTransitions,
  followProcess,
  type Processes,
} from "@tocsin/core/heart/deadAgents/agentProcesses"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Duration } from "effect"
import * as fc from "fast-check"

/** A heartbeat: so many minutes after the one before it, of a process. */
type Beat = readonly [minutes: number, process: string]

const at = (minutes: number): Instant.Instant => Instant.fromMillis(minutes * 60_000)

/** The minutes at which a process returned. */
const returnsIn = (beats: ReadonlyArray<Beat>): ReadonlyArray<number> => {
  let agent: Processes & { readonly hostname: string } = {
    hostname: "web-1",
    process: undefined,
    former_processes: undefined,
    twice_at: undefined,
  }
  let minute = 0
  return beats.flatMap(([minutes, process]) => {
    minute += minutes
    if (process === agent.process) return []
    const { returned, ...processes } = followProcess(agent, process, at(minute))
    agent = { ...agent, ...processes }
    assert.isAtMost(agent.former_processes?.length ?? 0, 8)
    if (returned !== undefined) assert.strictEqual(agent.twice_at, at(minute))
    return returned === undefined ? [] : [minute]
  })
}

/** A heartbeat a minute of each of these processes in turn. */
const inTurn = (processes: string, rounds: number): ReadonlyArray<Beat> =>
  Array.from({ length: rounds }, () =>
    Array.from(processes, (name, n): Beat => [n === 0 ? 1 : 0, name]),
  ).flat()

describe("two agents with one key", () => {
  const cases: ReadonlyArray<readonly [name: string, beats: ReadonlyArray<Beat>, first: number | undefined]> =
    [
      [
        "a restart",
        [
          [0, "a"],
          [1, "b"],
          [1, "b"],
        ],
        undefined,
      ],
      ["many restarts", inTurn("abcdefghijklmnopqrstuvwxyz", 1), undefined],
      ["two clones", inTurn("ab", 5), 2],
      ["three clones", inTurn("abc", 5), 2],
      ["more clones than are remembered", inTurn("abcdefghijklmnopqrstuvwxyz", 5), 2],
      [
        "a clone of which one restarts",
        [
          [0, "a"],
          [1, "b"],
          [1, "c"],
          [1, "b"],
        ],
        3,
      ],
      [
        "a clone that returns just in time",
        [
          [0, "a"],
          [1, "b"],
          [9, "b"],
          [0.9, "a"],
        ],
        10.9,
      ],
      [
        "a clone that returns too late",
        [
          [0, "a"],
          [1, "b"],
          [9, "b"],
          [1, "a"],
        ],
        undefined,
      ],
      [
        "a clone that leaves",
        [
          [0, "a"],
          [1, "b"],
          [1, "b"],
          [60, "b"],
        ],
        undefined,
      ],
    ]
  it.each(cases)("%s", (_name, beats, first) => {
    assert.strictEqual(returnsIn(beats)[0], first)
  })

  it("every return is one of a process that another one followed within ten minutes, and no other is", () => {
    const beats = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.constantFrom(..."abcdef")), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(beats, (played) => {
        const expected: Array<number> = []
        const left = new Map<string, number>()
        let [minute, present]: [number, string | undefined] = [0, undefined]
        for (const [minutes, process] of played) {
          minute += minutes
          if (process === present) continue
          if (minute - (left.get(process) ?? -Infinity) < Duration.toMinutes("10 minutes"))
            expected.push(minute)
          if (present !== undefined) left.set(present, minute)
          present = process
        }
        assert.deepStrictEqual(returnsIn(played), expected)
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })

  it("has a table whose moves end where its states begin", () => {
    const states = new Set(AgentProcessTransitions.map(({ from }) => from))
    for (const { to } of AgentProcessTransitions) assert.isTrue(states.has(to))
  })
})

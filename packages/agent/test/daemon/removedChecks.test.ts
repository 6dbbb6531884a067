import { assert, describe, it } from "@effect/vitest"
import { configuredNote, withoutRemoved } from "../../src/daemon/removedChecks.ts"

const NOW = Date.UTC(2026, 0, 1)
const checks = (...ids: ReadonlyArray<string>) => new Map(ids.map((id) => [id, {}]))
const state = (observedAt: number) => ({ status: "ok", exitCode: 0, observedAt }) as const

describe("the states of removed checks", () => {
  it("are left out until they report again, and after a restart", () => {
    const states = new Map([
      ["kept", state(NOW)],
      ["removed", state(NOW)],
      ["job", state(NOW)],
    ])
    const both = configuredNote(undefined, checks("kept", "removed"), NOW)
    assert.deepStrictEqual([...withoutRemoved(states, both).keys()], ["kept", "removed", "job"])
    const one = configuredNote(both, checks("kept"), NOW + 1)
    const later = configuredNote(one, checks("kept"), NOW + 9)
    assert.deepStrictEqual([...withoutRemoved(states, later).keys()], ["kept", "job"])
    const reported = new Map(states).set("removed", state(NOW + 5))
    assert.deepStrictEqual([...withoutRemoved(reported, later).keys()], ["kept", "removed", "job"])
    const back = configuredNote(later, checks("kept", "removed"), NOW + 10)
    assert.deepStrictEqual([...withoutRemoved(states, back).keys()], ["kept", "removed", "job"])
    assert.deepStrictEqual([...withoutRemoved(states, "damaged").keys()], ["kept", "removed", "job"])
  })
})

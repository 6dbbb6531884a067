import { it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { anyScenario, LONGEST } from "./Scenario.ts"
import { play } from "./Simulation.ts"
it.effect.prop("x", { scenario: anyScenario }, ({ scenario }) =>
  Effect.gen(function* () {
    let t: any
    t = setTimeout(() => { console.log("STUCK", JSON.stringify(scenario)); process.exit(1) }, 4000)
    yield* Effect.addFinalizer(() => Effect.sync(() => { clearTimeout(t) }))
    const course = yield* play(scenario)
    t[Symbol.for("x")] = 1
    ;(globalThis as any).last = course
  }), { arbitrary: { runs: 1500, size: LONGEST, maxShrinks: 0 }, timeout: 60_000 })

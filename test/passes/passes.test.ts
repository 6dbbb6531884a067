import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { AT_LENGTH } from "../properties/atLength.ts"
import { allPasses } from "./allPasses.ts"
import { differences, PIECES } from "./differences.ts"
import { INTERRUPTIONS } from "./InterruptedStorage.ts"
import { playPass } from "./playPass.ts"

/** In a sample, each of so many calls is interrupted. Most defects show after a failure or a change. */
const STEP = { fails: 59, changes: 61, "loses its reply": 140, throws: 140, "breaks off": 140 }
/** In a sample, no more of them in one way. */
const MOST_PLAYED = 2

describe("interrupted background work leaves the rows of an undisturbed run", () => {
  it.effect.each(allPasses.map((pass, place) => ({ name: pass.name, pass, place })))(
    "$name",
    ({ pass, place }) =>
      Effect.gen(function* () {
        const { before, calls, rows } = yield* playPass(pass)
        assert.isAbove(calls, 0)
        assert.isNotEmpty(differences(rows, before, Duration.zero), "it has work")
        const { rows: atOnce } = yield* playPass(pass, undefined, { pieceSize: 500 })
        assert.deepStrictEqual(differences(rows, atOnce, PIECES), [], "in pieces instead of at once")
        const faults: Array<string> = []
        for (const [index, interruption] of INTERRUPTIONS.entries()) {
          // A sample has failures, and each second of the other ways of each pass.
          if (!AT_LENGTH && interruption !== "fails" && (index + place) % 2 === 0) continue
          if (interruption === "changes" && pass.detour === undefined) continue
          if (interruption === "breaks off" && pass.endsWithProcess === true) continue
          const step = AT_LENGTH ? 1 : Math.max(STEP[interruption], Math.ceil(calls / MOST_PLAYED))
          for (let at = 1 + (index % step); at <= calls; at += step) {
            const played = yield* playPass(pass, { interruption, at })
            for (const difference of differences(played.rows, rows, pass.within))
              faults.push(`call ${at} ${interruption}: ${difference}`)
          }
        }
        assert.deepStrictEqual(faults, [])
      }),
  )
})

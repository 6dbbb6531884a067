import { assert, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect, Result } from "effect"
import { turnsInPieces } from "../../../src/features/onCall/readCalendar.ts"
import { compilePolicy } from "../../../src/heart/policy/compilePolicy.ts"
import { type RotaOverride, turnsBetween } from "../../../src/heart/policy/onCall.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"

const NAMES = ["ann", "bob"]
const at = (text: string) => Instant.fromMillis(Date.parse(text))

const rotasOf = (rota: object) => {
  const { rotas } = compilePolicy(Result.getOrThrow(readPolicy({ rotas: { r: rota } }, NAMES)), NAMES)
  return rotas ?? assert.fail("no rota")
}

const OVERRIDE: RotaOverride = {
  id: "o",
  rota: "r",
  receivers: ["bob"],
  starts_at: at("2026-03-08T23:30Z"),
  ends_at: at("2026-03-20T00:30Z"),
  created_at: at("2026-01-01T00:00Z"),
}
const SPAN = { from: at("2026-03-01T10:00Z"), to: at("2026-11-05T10:00Z") }

it.effect("turns are those of the whole span, hourly ones in pieces between which other work passes", () =>
  Effect.gen(function* () {
    for (const every of ["1h", "12h", "14d"]) {
      const rotas = rotasOf({ tz: "Europe/Berlin", order: NAMES, every, from: "2026-02-01T09:00" })
      let passed = 0
      const pass = () => {
        passed += 1
        next = setImmediate(pass)
      }
      let next = setImmediate(pass)
      const span = { ...SPAN, most: 20_000 }
      const turns = yield* turnsInPieces(rotas, "r", [OVERRIDE], span)
      clearImmediate(next)
      assert.deepStrictEqual(turns, turnsBetween(rotas, "r", [OVERRIDE], span))
      assert.isAtLeast(passed, 30)
    }
    const rotas = rotasOf({ order: NAMES, every: "1h", from: "2026-02-01T09:00" })
    assert.isUndefined(yield* turnsInPieces(rotas, "r", [], { ...SPAN, most: 5_000 }))
  }),
)

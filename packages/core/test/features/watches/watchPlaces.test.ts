import { assert, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { turnsHere, withTurn } from "../../../src/features/watches/watchPlaces.ts"
import { watchOf } from "./watchOf.ts"

const hour = (count: number) => Instant.fromMillis(count * 3_600_000)

it("the service's statuses as a place are those of the last day, also where it has not turned since", () => {
  const from = ["here", "berlin"].map((name) => AgentId.make(name))
  const places = { from, fails: "any", since: 0, states: {} } as const
  const turned = [1, 2, 3].reduce(
    (watch, at) => withTurn(watch, { at: hour(at), counted: at % 2 === 0 ? "critical" : "ok" }),
    { ...watchOf({}), places },
  )
  const shown = (now: number) => turnsHere(turned, hour(now)).here?.map(({ from: at }) => at)
  assert.deepStrictEqual(shown(4), [hour(1), hour(2), hour(3)])
  assert.deepStrictEqual(shown(26), [hour(2), hour(3)])
  assert.deepStrictEqual(shown(96), [hour(3)])
})

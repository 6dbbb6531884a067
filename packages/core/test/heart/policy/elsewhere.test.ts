import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { compileGiven, LACKED, type PolicyNotifiers } from "../../../src/heart/policy/compilePolicy.ts"
import { PolicyInForce } from "../../../src/heart/policy/PolicyInForce.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"
import { reachedBy } from "../../../src/heart/policy/Rota.ts"
import { defaultRules, RuleSettings } from "../../../src/kernel/ports/RuleSettings.ts"

const GIVEN: PolicyNotifiers = { notifiers: ["debug"], keepsNotifiers: false, extensions: ["lamp"] }
const chat = { kind: "messenger", url_env: "TOCSIN_SECRET_CHAT" } as const

const compiled = (document: object, given: PolicyNotifiers = GIVEN) =>
  compileGiven(
    Result.getOrThrow(readPolicy(document, ["debug", "lamp", "pager", "sms", "constructor"])),
    given,
  )

const shown = ({ everyone, receivers, unavailable = new Map() }: ReturnType<typeof compiled>) => ({
  receivers: Array.from(receivers.keys()).toSorted(),
  everyone: Array.from(everyone.named.keys()).toSorted(),
  unavailable: Array.from(unavailable.keys()),
})

describe("receivers of modules", () => {
  it("remain beside those that a policy defines, and replace those of settings no more than before", () => {
    assert.deepStrictEqual(shown(compiled({})), {
      receivers: ["debug", "lamp"],
      everyone: ["debug", "lamp"],
      unavailable: [],
    })
    const defined = ["chat", "lamp"]
    assert.deepStrictEqual(shown(compiled({ receivers: { chat } })), {
      receivers: defined,
      everyone: defined,
      unavailable: [],
    })
  })

  it("that only another live server has are every receiver too, and unavailable here", () => {
    const names = ["chat", "lamp", "pager"]
    const policy = compiled({ receivers: { chat } }, { ...GIVEN, elsewhere: ["pager", "lamp"] })
    assert.deepStrictEqual(shown(policy), { receivers: names, everyone: names, unavailable: ["pager"] })
    assert.strictEqual(policy.unavailable?.get("pager"), LACKED)
  })

  it("may have the name of a property that every object has", () => {
    const rotas = { ops: { from: "2026-01-05T09:00", every: "7d", order: ["lamp"] } }
    const routes = [{ to: ["constructor", "ops"] }]
    const document = { receivers: { chat }, rotas, routes }
    const policy = compiled(document, { ...GIVEN, notifierKinds: {}, elsewhere: ["constructor"] })
    assert.deepStrictEqual(shown(policy).unavailable, ["constructor"])
    assert.strictEqual(policy.receivers.get("constructor")?.kind, "constructor")
    assert.deepStrictEqual(reachedBy(["constructor", "ops"], policy.document.rotas), ["constructor", "lamp"])
  })

  it("that a stored policy names and no server has are unavailable, in routes, steps and rotas", () => {
    const rotas = { ops: { from: "2026-01-05T09:00", every: "7d", order: ["sms"] } }
    const routes = [{ to: ["pager"] }, { steps: [{ to: ["lamp"] }, { after: "5m", to: ["ops"] }] }]
    assert.deepStrictEqual(shown(compiled({ receivers: { chat }, rotas, routes })).unavailable, [
      "pager",
      "sms",
    ])
  })
})

it.effect(
  "a policy in force follows what other servers give, and keeps why its own receivers are unavailable",
  () =>
    Effect.gen(function* () {
      const { current, elsewhere, giveElsewhere, replace } = yield* PolicyInForce
      yield* giveElsewhere(["pager", "lamp"])
      assert.deepStrictEqual(elsewhere(), ["pager"])
      assert.deepStrictEqual(shown(current()).unavailable, ["pager"])
      yield* replace({ ...compiled({ receivers: { chat } }), unavailable: new Map([["chat", "no secret"]]) })
      assert.deepStrictEqual(shown(current()).everyone, ["chat", "lamp", "pager"])
      assert.deepStrictEqual(shown(current()).unavailable, ["pager", "chat"])
      yield* giveElsewhere([])
      assert.deepStrictEqual(shown(current()), {
        receivers: ["chat", "lamp"],
        everyone: ["chat", "lamp"],
        unavailable: ["chat"],
      })
    }).pipe(
      Effect.provide(PolicyInForce.layer),
      Effect.provideService(RuleSettings, { ...defaultRules, ...GIVEN }),
    ),
)

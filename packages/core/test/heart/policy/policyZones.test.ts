import { assert, describe, it } from "@effect/vitest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Result } from "effect"
import { compilePolicy } from "../../../src/heart/policy/compilePolicy.ts"
import { occurrenceInForce } from "../../../src/heart/policy/occurrences.ts"
import { movedRotas } from "../../../src/heart/policy/policyZones.ts"
import { periodAt } from "../../../src/heart/policy/Rota.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"

const read = (document: object) => Result.getOrThrow(readPolicy(document, ["ann", "bob"]))
const compiled = (document: object) => compilePolicy(read(document), ["ann", "bob"])
const at = (text: string) => Instant.parse(text) ?? assert.fail(text)
const shown = (instant: Instant.Instant | undefined) => instant && Instant.format(instant)

const parts = {
  receivers: { chat: { kind: "debug", quiet: { hours: "22:00-24:00", below: "critical" } } },
  rotas: { primary: { order: ["ann", "bob"], every: "1d", from: "2026-01-30T09:00" } },
  windows: [{ name: "w", cron: "0 3 * * *", for: "1h", match: ["check_id = a"] }],
  freshness: [{ match: ["check_id = a"], cron: "0 3 * * *" }],
}

describe("the time zone of a policy", () => {
  const policy = compiled({ tz: "Europe/Berlin", ...parts })

  it("is that of rotas, windows, quiet hours and crons that have none", () => {
    const rota = policy.rotas?.byName.get("primary")
    assert.strictEqual(
      shown(rota && periodAt(rota, at("2026-01-31T12:00:00Z")).since),
      "2026-01-31T08:00:00.000Z",
    )
    const [window] = policy.windows
    assert.strictEqual(window?.tz, "Europe/Berlin")
    assert.strictEqual(
      shown(window && occurrenceInForce(window, at("2026-01-31T02:30:00Z"))?.ends_at),
      "2026-01-31T03:00:00.000Z",
    )
    assert.strictEqual(policy.freshness.ruleOf({ check_id: CheckId.make("a") })?.tz, "Europe/Berlin")
  })

  it("leaves those alone that have one, and is UTC by default", () => {
    const rotas = { primary: { ...parts.rotas.primary, tz: "UTC" } }
    const rota = compiled({ tz: "Europe/Berlin", rotas }).rotas?.byName.get("primary")
    assert.strictEqual(
      shown(rota && periodAt(rota, at("2026-01-31T12:00:00Z")).since),
      "2026-01-31T09:00:00.000Z",
    )
    assert.strictEqual(compiled({}).tz, "UTC")
  })

  it("is that of a reader who has none", () => {
    const receivers = { chat: { kind: "debug" }, phone: { kind: "debug", tz: "Asia/Tokyo" } }
    const { readerOf } = compiled({ tz: "Europe/Berlin", receivers })
    assert.deepStrictEqual(
      ["chat", "phone", "gone"].map((name) => readerOf(name).tz),
      ["Europe/Berlin", "Asia/Tokyo", "Europe/Berlin"],
    )
  })

  it("ends a day at 24:00", () => {
    const quiet = policy.receivers.get("chat")?.quiet ?? assert.fail("no quiet hours")
    assert.strictEqual(
      shown(occurrenceInForce(quiet, at("2026-01-31T21:30:00Z"))?.ends_at),
      "2026-01-31T23:00:00.000Z",
    )
    assert.isUndefined(occurrenceInForce(quiet, at("2026-01-31T23:00:00Z")))
    const day = compiled({
      receivers: { a: { kind: "debug", quiet: { hours: "00:00-24:00", tz: "UTC", below: "critical" } } },
    })
    const whole = day.receivers.get("a")?.quiet ?? assert.fail("no quiet hours")
    for (const [text, end] of [
      ["2026-01-31T00:00:00Z", "2026-02-01T00:00:00.000Z"],
      ["2026-01-31T23:59:59Z", "2026-02-01T00:00:00.000Z"],
      ["2026-02-01T00:00:00Z", "2026-02-02T00:00:00.000Z"],
    ] as const)
      assert.strictEqual(shown(occurrenceInForce(whole, at(text))?.ends_at), end)
  })

  it("moves rotas without their own, which are named", () => {
    const rotas = { ...parts.rotas, other: { ...parts.rotas.primary, tz: "Asia/Tokyo" } }
    const [before, after] = [read({ rotas }), read({ tz: "Europe/Berlin", rotas })]
    assert.deepStrictEqual(movedRotas(before, after), [
      {
        path: ["rotas", "primary"],
        message:
          "goes by the clock of Europe/Berlin instead of UTC, as the policy does: give it a tz of its own unless that is meant",
      },
    ])
    assert.deepStrictEqual(movedRotas(after, after), [])
    assert.deepStrictEqual(movedRotas(before, read({ tz: "UTC", rotas })), [])
  })
})

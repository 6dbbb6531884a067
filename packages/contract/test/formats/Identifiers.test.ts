import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { Hostname } from "../../src/formats/Text.ts"
import { IntegrationName } from "../../src/integrations/Integrations.ts"
import * as Identifiers from "../../src/formats/Identifiers.ts"
import { anyText, name, plainText } from "../v1/arbitraries.ts"

const UUID = "01890a5d-ac96-774b-bcce-b302099a8057"

describe.each([
  ["AgentId", Schema.is(Identifiers.AgentId)],
  ["CheckId", Schema.is(Identifiers.CheckId)],
])("%s", (_, accepts) => {
  it.each(["a", "A.b_c:d-9", "0", ".", "..", "-", "__proto__", "constructor", "x".repeat(128)])(
    "accepts %s",
    (id) => {
      assert.isTrue(accepts(id))
    },
  )

  it.each(["", "x".repeat(129), "a b", "a/b", "a\n", "\na", "ä", "a@b", "a\0", "%61", 1, null])(
    "refuses %j",
    (id) => {
      assert.isFalse(accepts(id))
    },
  )
})

it.each(["", "x".repeat(65), "x y"])("a refused name of an integration %j states its own limit", (name) => {
  assert.include(
    String(Schema.decodeUnknownResult(IntegrationName)(name)),
    "1 to 64 letters, digits or the characters . _ : -",
  )
})

describe.each([
  ["EventId", Schema.is(Identifiers.EventId)],
  ["IncidentId", Schema.is(Identifiers.IncidentId)],
  ["OutboxId", Schema.is(Identifiers.OutboxId)],
  ["RegistrationId", Schema.is(Identifiers.RegistrationId)],
])("%s", (_, accepts) => {
  it.each([UUID, "00000000-0000-7000-8000-000000000000", "ffffffff-ffff-7fff-bfff-ffffffffffff"])(
    "accepts %s",
    (id) => {
      assert.isTrue(accepts(id))
    },
  )

  it.each([
    ["upper case", UUID.toUpperCase()],
    ["version 4", "01890a5d-ac96-474b-bcce-b302099a8057"],
    ["another variant", "01890a5d-ac96-774b-ccce-b302099a8057"],
    ["no dashes", UUID.replaceAll("-", "")],
    ["braces", `{${UUID}}`],
    ["35 characters", UUID.slice(1)],
    ["37 characters", `${UUID}0`],
    ["a line end", `${UUID}\n`],
    ["nothing", ""],
  ])("refuses %s", (_name, id) => {
    assert.isFalse(accepts(id))
  })
})

describe.each([
  ["KeyHash", 64, Schema.is(Identifiers.KeyHash)],
  ["BlacklistId", 64, Schema.is(Identifiers.BlacklistId)],
  ["KeyFingerprint", 16, Schema.is(Identifiers.KeyFingerprint)],
])("%s", (_, digits, accepts) => {
  it("is lower-case hex of one length", () => {
    assert.isTrue(accepts("0af9".repeat(digits / 4)))
    for (const id of [
      "a".repeat(digits - 1),
      "a".repeat(digits + 1),
      "A".repeat(digits),
      "g".repeat(digits),
    ]) {
      assert.isFalse(accepts(id), id)
    }
  })
})

describe.each([
  ["Hostname", 253, Schema.is(Hostname)],
  ["IncidentKey", 256, Schema.is(Identifiers.IncidentKey)],
])("%s", (_, max, accepts) => {
  it(`holds 1 to ${max} code points`, () => {
    assert.isTrue(accepts("x"))
    assert.isTrue(accepts("x".repeat(max)))
    assert.isTrue(accepts("😀".repeat(max)))
    assert.isFalse(accepts(""))
    assert.isFalse(accepts("x".repeat(max + 1)))
    assert.isFalse(accepts("😀".repeat(max + 1)))
  })

  it("refuses each C0 control and lone surrogates, and accepts their neighbours", () => {
    for (let unit = 0; unit < 0x20; unit++)
      assert.isFalse(accepts(`a${String.fromCharCode(unit)}b`), `unit ${unit}`)
    for (const lone of ["\ud800", "\udbff", "\udc00", "\udfff"]) assert.isFalse(accepts(`a${lone}b`), lone)
    for (const fine of [" ", "\u007f", "\u0080", "\ud7ff", "\ue000", "\uffff", "😀"])
      assert.isTrue(accepts(fine), fine)
  })
})

describe("the patterns of the contract", () => {
  it("are those of agent_id and check_id", () => {
    const accepts = Schema.is(Identifiers.AgentId)
    fc.assert(
      fc.property(fc.oneof(name, anyText(130)), (text) => {
        assert.strictEqual(accepts(text), text.length <= 128 && /^[A-Za-z0-9._:-]+$/.test(text))
      }),
    )
  })

  it("are those of texts", () => {
    const accepts = Schema.is(Identifiers.IncidentKey)
    fc.assert(
      fc.property(fc.oneof(plainText({ maxLength: 260 }), anyText(260)), (text) => {
        const characters = Array.from(text)
        const isPlain = characters.every((character) => {
          const codePoint = character.codePointAt(0) ?? 0
          return codePoint >= 0x20 && (codePoint < 0xd800 || codePoint > 0xdfff)
        })
        assert.strictEqual(accepts(text), isPlain && characters.length >= 1 && characters.length <= 256)
      }),
    )
  })
})

import { assert, describe, it } from "@effect/vitest"
import { OutboxId } from "@tocsin/contract/formats/Identifiers"
import { LinkSigner } from "@tocsin/core/kernel/ports/Hashing"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Effect, Redacted } from "effect"
import * as fc from "fast-check"
import { layer } from "../src/HmacLinkSigner.ts"

const under = (key: string) => {
  const tokens = Effect.runSync(Effect.provide(LinkSigner, layer(Redacted.make(key))))
  return tokens ?? assert.fail("there are no tokens")
}

const anId = fc.uuid().map((id) => OutboxId.make(id.replace(/^(.{14})./, "$17")))
const aKey = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString("hex"))

describe("the tokens of links", () => {
  it("name the notification that they were made for", () => {
    fc.assert(
      fc.property(aKey, anId, (key, id) => {
        const token = under(key).tokenOf(id)
        assert.match(token, /^[0-9a-f]{96}$/)
        assert.strictEqual(under(key.toUpperCase()).idOf(token), id)
      }),
      { numRuns: propertyRuns(50) },
    )
  })

  it("of another key or with a changed character name none", () => {
    const at = fc.nat(95)
    const changed = fc.constantFrom(..."0123456789abcdefABCDEF-_ \n")
    fc.assert(
      fc.property(aKey, aKey, anId, at, changed, (key, other, id, position, character) => {
        const { idOf, tokenOf } = under(key)
        const token = tokenOf(id)
        if (other !== key) assert.isUndefined(under(other).idOf(token))
        const forged = token.slice(0, position) + character + token.slice(position + 1)
        assert.strictEqual(idOf(forged), forged === token ? id : undefined)
        for (const cut of [token.slice(1), `${token}0`, `${token}\n`, ""]) assert.isUndefined(idOf(cut))
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})

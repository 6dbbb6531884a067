import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Redacted } from "effect"
import * as fc from "fast-check"
import { secretCipher, SECRETS_KEYS } from "../src/AesSecretCipher.ts"

const keyOf = (digits: string) => digits.repeat(32)
const [OLD, NEW] = [keyOf("0a"), keyOf("b1")]
const cipherOf = (keys: string) => secretCipher(Redacted.make(keys))
const CHAT = NotifierName.make("chat")

const aName = fc.stringMatching(/^[a-z][a-z0-9_]{0,9}$/).map((name) => NotifierName.make(name))

describe("the cipher of stored secrets", () => {
  it("opens what it encrypted, for the same name alone, and encrypts nothing alike", () => {
    fc.assert(
      fc.property(fc.string(), aName, aName, (text, name, other) => {
        const { decrypt, encrypt } = cipherOf(NEW)
        const encrypted = encrypt(name, Redacted.make(text))
        const opened = decrypt(name, encrypted)
        assert.strictEqual(opened && Redacted.value(opened.text), text)
        assert.isFalse(opened?.isFormer)
        if (other !== name) assert.isUndefined(decrypt(other, encrypted))
        assert.notStrictEqual(encrypt(name, Redacted.make(text)), encrypted)
        assert.isUndefined(cipherOf(OLD).decrypt(name, encrypted))
      }),
      { numRuns: propertyRuns(50) },
    )
  })

  it("opens nothing that was changed, cut or never encrypted", () => {
    const { decrypt, encrypt } = cipherOf(NEW)
    const bytes = Buffer.from(encrypt(CHAT, Redacted.make("token")), "base64")
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      assert.isUndefined(decrypt(CHAT, changed.toString("base64")), `byte ${at}`)
      assert.isUndefined(decrypt(CHAT, bytes.subarray(0, at).toString("base64")), `${at} bytes`)
    }
    for (const text of ["", "-", "{}"]) assert.isUndefined(decrypt(CHAT, text))
  })

  it("opens by the second key what the first one does not, and says so", () => {
    const former = cipherOf(OLD).encrypt(CHAT, Redacted.make("token"))
    const both = cipherOf(`${NEW},${OLD}`)
    assert.isTrue(both.decrypt(CHAT, former)?.isFormer)
    assert.isFalse(both.decrypt(CHAT, both.encrypt(CHAT, Redacted.make("token")))?.isFormer)
    assert.deepStrictEqual<unknown>(both.keyIds, [...cipherOf(NEW).keyIds, ...cipherOf(OLD).keyIds])
    assert.strictEqual(new Set(both.keyIds).size, 2)
  })

  it("shows no key, and takes one or two", () => {
    const shown = inspect(cipherOf(`${NEW},${OLD}`), { depth: 9, showHidden: true })
    assert.notInclude(shown, NEW.slice(0, 9))
    for (const keys of [NEW, `${NEW},${OLD}`, NEW.toUpperCase()]) assert.match(keys, SECRETS_KEYS)
    for (const keys of ["", NEW.slice(1), `${NEW},`, `${NEW}, ${OLD}`, `${NEW},${OLD},${NEW}`])
      assert.notMatch(keys, SECRETS_KEYS)
  })
})

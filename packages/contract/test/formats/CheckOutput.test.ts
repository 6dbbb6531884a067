import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { utf8Length } from "../../src/formats/outputText.ts"
import { CheckOutput } from "../../src/formats/Text.ts"
import * as arbitraries from "../v1/arbitraries.ts"

const decode = Schema.decodeUnknownSync(CheckOutput)
const accepts = Schema.is(Schema.toEncoded(CheckOutput))

describe("CheckOutput", () => {
  it("stores NUL as a space and a lone surrogate as U+FFFD, and nothing else otherwise", () => {
    assert.strictEqual(decode("a\0b\0"), "a b ")
    assert.strictEqual(decode("\ud800"), "\ufffd")
    assert.strictEqual(decode("a\udc00\ud800b"), "a\ufffd\ufffdb")
    assert.strictEqual(decode("\ud83d\ude00"), "😀")
    assert.strictEqual(decode("\u0001\t\r\n\u001b[31m"), "\u0001\t\r\n\u001b[31m")
    assert.strictEqual(decode(""), "")
  })

  it("is cleaned once, and encodes unchanged", () => {
    fc.assert(
      fc.property(arbitraries.anyText(500), (text) => {
        const cleaned = decode(text)
        assert.isFalse(cleaned.includes("\0"))
        // Text that UTF-8 returns unchanged holds no lone surrogate.
        assert.strictEqual(new TextDecoder().decode(new TextEncoder().encode(cleaned)), cleaned)
        assert.strictEqual(
          cleaned,
          new TextDecoder().decode(new TextEncoder().encode(text)).replaceAll("\0", " "),
        )
        assert.strictEqual(decode(cleaned), cleaned)
        assert.strictEqual(Schema.encodeSync(CheckOutput)(cleaned), cleaned)
      }),
    )
  })

  it("is measured in bytes of UTF-8, a lone surrogate as three", () => {
    fc.assert(
      fc.property(arbitraries.anyText(300), (text) => {
        assert.strictEqual(utf8Length(text), new TextEncoder().encode(text).length)
        assert.strictEqual(utf8Length(text), utf8Length(decode(text)))
      }),
    )
  })

  it("knows the length of every code unit, and of the ends of the pairs", () => {
    const encoder = new TextEncoder()
    for (let unit = 0; unit <= 0xffff; unit++) {
      const text = String.fromCharCode(unit)
      if (utf8Length(text) !== encoder.encode(text).length) assert.fail(`unit ${unit.toString(16)}`)
    }
    for (const text of ["\u{10000}", "\u{103ff}", "\u{10fc00}", "\u{10ffff}"])
      assert.strictEqual(utf8Length(text), 4)
  })

  it.each([
    ["letters", "x", 1],
    ["NUL", "\0", 1],
    ["two-byte characters", "ä", 2],
    ["three-byte characters", "€", 3],
    ["lone surrogates", "\ud800", 3],
    ["four-byte characters", "😀", 4],
  ])("holds 8192 bytes of %s, not one more", (_, character, bytes) => {
    const full = character.repeat(Math.floor(8192 / bytes)) + "x".repeat(8192 % bytes)
    assert.strictEqual(utf8Length(full), 8192)
    assert.isTrue(accepts(full))
    assert.isFalse(accepts(`${full}x`))
    assert.isFalse(accepts(`x${full}`))
  })
})

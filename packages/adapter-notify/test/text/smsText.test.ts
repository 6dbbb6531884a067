import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { septetsOf } from "@tocsin/core/heart/notifications/phoneLetters"
import { smsText } from "../../src/services/sms.ts"
import { anyCharacter } from "@tocsin/testing/anyCharacter"

/** GSM 03.38 by its rows of the standard: those that take one septet, and those behind an escape. */
const ONE = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ -#¤%-?¡A-ZÄÖÑÜ§¿a-zäöñüà]$/u
const TWO = /^[\f^{}\\[~\]|€]$/u

const characters = fc.oneof(
  fc.constantFrom(..."aZ9 @£ÄñΩ§é"),
  fc.constantFrom(..."^{}[]~|€\\"),
  fc.constantFrom("🔥", "ç", "`", "\t", "…", "\ud800", "\u0000"),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
)
const gsm = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(..."abc ABC/:") },
  { weight: 2, arbitrary: fc.constantFrom(..."[]€") },
)
const texts = fc.oneof(
  fc.array(characters, { maxLength: 600 }),
  fc.array(gsm, { maxLength: 600 }),
  fc.tuple(fc.array(gsm, { maxLength: 500 }), characters).map(([all, last]) => [...all, last]),
)
const links = fc.option(
  fc.integer({ min: 20, max: 600 }).map((length) => `https://tocsin.example/~a/${"0".repeat(length)}`),
  { nil: undefined },
)

const sizeOf = (text: string): { readonly size: number; readonly limit: number } => {
  const all = Array.from(text)
  return all.every((one) => ONE.test(one) || TWO.test(one))
    ? { size: all.reduce((sum, one) => sum + (TWO.test(one) ? 2 : 1), 0), limit: 459 }
    : { size: text.length, limit: 201 }
}

describe("the text of a message to a phone", () => {
  it("counts the septets of the standard", () => {
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 20 }), (parts) => {
        const text = parts.join("")
        const { limit, size } = sizeOf(text)
        assert.strictEqual(septetsOf(text), limit === 459 ? size : undefined)
      }),
      { numRuns: propertyRuns(200) },
    )
    assert.strictEqual(septetsOf("[€] a"), 8)
    assert.strictEqual(septetsOf("ç"), undefined)
  })

  it("fits into three parts, with its link whole or without it", () => {
    fc.assert(
      fc.property(texts, links, (parts, link) => {
        const text = parts.join("").replaceAll("…", "...")
        const sent = smsText(parts.join(""), link)
        const { limit, size } = sizeOf(sent)
        assert.isAtMost(size, limit)
        const end = link === undefined ? "" : `\n${link}`
        if (sent === text + end) return
        const hasLink = link !== undefined && sent.endsWith(end)
        const shown = hasLink ? sent.slice(0, -end.length) : sent
        if (shown !== text) {
          assert.isTrue(shown.endsWith("..."))
          assert.isTrue(text.startsWith(shown.slice(0, -3)))
          // One character more does not fit.
          const more = Array.from(text.slice(shown.length - 3))[0] ?? ""
          const longer = sizeOf(`${shown.slice(0, -3)}${more}...${hasLink ? end : ""}`)
          assert.isAbove(longer.size, longer.limit)
        }
        if (hasLink || link === undefined) return
        assert.isBelow(limit - sizeOf(end).size, 459)
        assert.isAbove(sizeOf(`${"a".repeat(40)}${end}`).size + (limit === 201 ? 258 : 0), 459)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it("leaves out a link that would leave less than 40 of it", () => {
    const of = (length: number) => `https://t.example/${"0".repeat(length)}`
    const long = "a".repeat(500)
    assert.strictEqual(smsText(long, of(400)), `${"a".repeat(37)}...\n${of(400)}`)
    assert.strictEqual(smsText(long, of(401)), `${"a".repeat(456)}...`)
    assert.strictEqual(smsText("short", of(401)), `short\n${of(401)}`)
    assert.strictEqual(smsText("…", of(450)), "...")
  })
})

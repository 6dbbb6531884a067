import { assert, describe, it } from "@effect/vitest"
import { cutText } from "../../src/text/cutText.ts"

const cut = (text: string, limit: number, escape = (part: string) => part) => cutText(text, { limit, escape })

describe("a text that is cut", () => {
  it("is whole where it fits", () => {
    assert.strictEqual(cut("abc", 3), "abc")
    assert.strictEqual(cut("", 0), "")
  })

  it("ends in an ellipsis, which counts", () => {
    assert.strictEqual(cut("abcd", 3), "ab…")
    assert.strictEqual(cut("abcd", 1), "…")
    assert.strictEqual(cut("abcd", 0), "")
    assert.strictEqual(cut("abcd", -5), "")
  })

  it("keeps pairs of surrogates together", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 4, 5, 6].map((limit) => cut("😀😀😀", limit)),
      ["…", "…", "😀…", "😀…", "😀😀…", "😀😀😀"],
    )
  })

  it("keeps escapes together", () => {
    const escape = (text: string) => text.replaceAll("&", "&amp;")
    assert.strictEqual(cut("a&b&c", 13, escape), "a&amp;b&amp;c")
    assert.strictEqual(cut("a&b&c", 12, escape), "a&amp;b…")
    assert.strictEqual(cut("a&b&c", 6, escape), "a…")
  })
})

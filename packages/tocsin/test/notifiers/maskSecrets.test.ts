import { assert, describe, it } from "@effect/vitest"
import { maskOf } from "../../src/notifiers/maskSecrets.ts"

const TOKEN = 'syt_"pass word"/ü+𝄞\\'

describe("a mask of secrets", () => {
  it.each([
    ["as it is", TOKEN],
    ["in a JSON text", JSON.stringify(TOKEN).slice(1, -1)],
    [
      "in a JSON text with escapes alone",
      TOKEN.replaceAll("/", String.raw`\/`).replaceAll("ü", String.raw`\u00FC`),
    ],
    ["in a part of an address", encodeURIComponent(TOKEN)],
    ["in an address", new URL(`https://host/?${TOKEN}`).search.slice(1)],
    ["in a form", new URLSearchParams({ token: TOKEN }).toString().slice("token=".length)],
    ["percent-encoded in lower case", encodeURIComponent(TOKEN).toLowerCase()],
    ["as the name of a host", TOKEN.toLowerCase()],
  ])("hides it %s", (_, form) => {
    assert.strictEqual(maskOf([TOKEN])(`at ${form}, twice: ${form}.`), "at ***, twice: ***.")
  })

  it("begins with the longest", () => {
    assert.strictEqual(maskOf(["12345678", "123456789012"])("1234567890123 12345678"), "***3 ***")
  })

  it("leaves no part of secrets that overlap", () => {
    const mask = maskOf(["abcdefghij", "hijklmnopq", "qrstuvwxyz"])
    assert.strictEqual(mask("1abcdefghijklmnopqrstuvwxyz2"), "1***2")
  })

  it("hides a text that was read with the end of its line", () => {
    assert.strictEqual(maskOf(["12345678\n"])('"Bearer 12345678" is invalid'), '"Bearer ***" is invalid')
  })

  it("takes no character for a pattern, and changes nothing else", () => {
    const mask = maskOf(["a.c[d]*$^(e|f)"])
    assert.strictEqual(mask("a.c[d]*$^(e|f)"), "***")
    assert.strictEqual(mask("abc[d]*$^(e|f), 12345678"), "abc[d]*$^(e|f), 12345678")
  })
})

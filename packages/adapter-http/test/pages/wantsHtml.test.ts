import { assert, describe, it } from "@effect/vitest"
import { wantsHtml } from "../../src/pages/wantsHtml.ts"

describe("HTML is wanted", () => {
  it("by those who name it, and prefer nothing to it", () => {
    for (const accept of [
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "text/html",
      "TEXT/HTML;level=1",
      "application/json;q=0.5, text/html;q=0.5",
      "application/xhtml+xml",
    ]) {
      assert.isTrue(wantsHtml(accept), accept)
    }
  })

  it("not by programs", () => {
    for (const accept of [
      undefined,
      "",
      "*/*",
      "application/json",
      "text/html;q=0",
      "application/json, text/html;q=0.9",
      "text/*",
      "text/htmlx",
      ";;;,,q=",
    ]) {
      assert.isFalse(wantsHtml(accept), accept)
    }
  })
})

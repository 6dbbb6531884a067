import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { mayScrape } from "../../src/metrics/scraperAccess.ts"

const tokens = { uiTokens: [Redacted.make("operator")], readTokens: [Redacted.make("reader")] }

describe("who may read the metrics", () => {
  it("knows the token of the metrics, or one of the operators'", () => {
    const own = mayScrape({ tokens: [] }, tokens)
    const withToken = mayScrape({ tokens: [Redacted.make("scraper")] }, tokens)
    for (const known of ["Bearer operator", "Bearer reader", "bearer operator", "Bearer  operator "]) {
      assert.isTrue(own(known), known)
      assert.isTrue(withToken(known), known)
    }
    assert.isFalse(own("Bearer scraper"))
    assert.isTrue(withToken("Bearer scraper"))
    for (const unknown of [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      "Basic operator",
      "operator",
      "Bearer operator x",
      "Beareroperator",
    ]) {
      assert.isFalse(withToken(unknown), unknown)
    }
  })

  it("is everyone where they are open, and nobody where no token is set", () => {
    assert.isTrue(mayScrape("open", { uiTokens: [] })(undefined))
    assert.isFalse(mayScrape({ tokens: [] }, { uiTokens: [] })("Bearer x"))
  })
})

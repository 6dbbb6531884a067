import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as Access from "../../src/request/access.ts"

const tokens = { operatorTokens: [Redacted.make("operator")], readTokens: [Redacted.make("reader")] }

const mayRead = (metrics: Access.MetricsAccess, operators: Access.OperatorTokens) => {
  const hashing = { sha256: (text: string) => hash("sha256", text) }
  const access = Access.make({ ...operators, metrics: { access: metrics } }, hashing)
  return (authorization: string | undefined) => access.metrics(authorization) === undefined
}

describe("who may read the metrics", () => {
  it("includes holders of a metrics token or an operator token", () => {
    const own = mayRead({ tokens: [], isOpen: false }, tokens)
    const withToken = mayRead({ tokens: [Redacted.make("scraper")], isOpen: false }, tokens)
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

  it("includes everyone if they are open, and no one if no token is set", () => {
    assert.isTrue(mayRead({ tokens: [], isOpen: true }, { operatorTokens: [] })(undefined))
    assert.isFalse(mayRead({ tokens: [], isOpen: false }, { operatorTokens: [] })("Bearer x"))
  })
  it("follows what changes", () => {
    const access = { tokens: [], isOpen: true }
    const may = mayRead(access, { operatorTokens: [] })
    assert.isTrue(may(undefined))
    access.isOpen = false
    assert.isFalse(may(undefined))
  })
})

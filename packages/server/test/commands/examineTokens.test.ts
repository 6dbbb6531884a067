import { assert, describe, it } from "@effect/vitest"
import { examineTokens } from "@tocsin/server/commands/doctor"
import { Redacted } from "effect"

const tokens = (...texts: ReadonlyArray<string>) => texts.map((text) => Redacted.make(text))

describe("the doctor", () => {
  it("reports tokens that are easy to guess, and shows none", () => {
    const findings = examineTokens({
      SERVICE_AUTH_TOKEN: tokens("a-token-that-is-long-enough", "hunter2"),
      SERVICE_READ_TOKEN: tokens("0123456789abcdef"),
    })
    assert.deepStrictEqual(findings, [
      {
        check: "tokens",
        level: "attention",
        message:
          "SERVICE_AUTH_TOKEN has a token of fewer than 16 characters, which is easy to guess: generate one with openssl rand -base64 32",
      },
    ])
  })

  it("accepts tokens that are long, or not set", () => {
    assert.deepStrictEqual(examineTokens({ SERVICE_AUTH_TOKEN: tokens("0123456789abcdef") }), [])
    assert.deepStrictEqual(examineTokens({}), [])
  })
})

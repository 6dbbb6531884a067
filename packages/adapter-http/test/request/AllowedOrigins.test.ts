import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parseAllowedOrigins } from "../../src/response/headerFields.ts"

const read = (...texts: ReadonlyArray<string>) => Result.getOrUndefined(parseAllowedOrigins(texts))
const fault = (...texts: ReadonlyArray<string>) => Result.getFailure(parseAllowedOrigins(texts))

describe("allowed origins", () => {
  it("are taken as browsers send them", () => {
    for (const origin of [
      "https://dashboard.example",
      "http://localhost:3000",
      "https://dashboard.example:8443",
      "http://[::1]:5173",
      "https://xn--bcher-kva.example",
      "capacitor://localhost",
      "chrome-extension://abcdefghijklmnop",
    ]) {
      assert.deepStrictEqual(read(origin), [origin])
    }
    assert.deepStrictEqual(read("https://a.example", "https://b.example"), [
      "https://a.example",
      "https://b.example",
    ])
    assert.strictEqual(read("*"), "*")
  })

  it("are refused in any other form, with what to write instead", () => {
    for (const [text, advice] of [
      ["https://dashboard.example/", "https://dashboard.example"],
      ["https://dashboard.example/app", "https://dashboard.example"],
      ["https://Dashboard.example", "https://dashboard.example"],
      ["https://dashboard.example:443", "https://dashboard.example"],
      ["https://bücher.example", "https://xn--bcher-kva.example"],
      ["https://user@dashboard.example", "https://dashboard.example"],
    ] as const) {
      const problem = fault(text)
      assert(problem._tag === "Some", text)
      assert.include(problem.value, `write ${advice}`)
    }
    for (const text of [
      "",
      "dashboard.example",
      "https://",
      "https://*.example",
      "null",
      "file:///x",
      "//x",
    ]) {
      assert.isUndefined(read(text), text)
    }
    assert.isUndefined(read())
    assert.isUndefined(read("*", "https://a.example"))
    assert.isUndefined(read("https://a.example", "*"))
  })
})

import { assert } from "@effect/vitest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { MAX_POLICY_BYTES } from "@tocsin/adapter-http/policy/readPolicyText"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { AT_LENGTH } from "../../properties/atLength.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"

/** Long enough for a machine under load; work quadratic in a text of 1 MiB takes longer. */
const PATIENCE = "2 minutes"

const check = (body: string) => Effect.timeout(operate("POST", "/ops/v1/policy/check", { body }), PATIENCE)

/** The policy over HTTP (docs/rules.md#policy). */
export const policySuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("the policy in force is shown with its hash and its receivers", () =>
    Effect.gen(function* () {
      const { readToken } = yield* Tocsin
      const { body, status } = yield* call("GET", "/ops/v1/policy", { token: readToken })
      assert.strictEqual(status, 200)
      const { hash, policy, receivers } = body as Record<string, unknown>
      assert.deepStrictEqual(policy, {})
      assert.match(String(hash), /^[0-9a-f]{64}$/)
      // This service has no notifiers.
      assert.deepStrictEqual(receivers, [{ name: "debug", notifier: "debug", unavailable: true }])
      assert.deepStrictEqual((yield* call("GET", "/ops/v1/windows", { token: readToken })).body, {
        items: [],
      })
    }),
  )

  scenario("a policy is not applied where the program decides", () =>
    Effect.gen(function* () {
      const applied = operate("PUT", "/ops/v1/policy", { body: "routes: []" })
      expectError(yield* applied, 409, "conflict")
      assert.strictEqual((yield* operate("GET", "/ops/v1/policy/versions")).text, '{"items":[]}')
    }),
  )

  scenario("a policy is checked without a look at what it names", () =>
    Effect.gen(function* () {
      const valid = [
        "receivers:",
        "  chat: { kind: messenger, url_file: /no/such/file }",
        "  pager: { kind: webhook, url_env: NO_SUCH_VARIABLE, secret_env: NO_SUCH_VARIABLE }",
        "routes:",
        "  - to: [chat]",
      ].join("\n")
      assert.deepStrictEqual((yield* check(valid)).body, { issues: [], warnings: [], firings: [] })
      const { body, status } = yield* check("routes:\n  - to: [pager]\n  - after: soon\n    colour: red\n")
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(body, {
        issues: [
          { path: "routes[0].to[0]", line: 2, message: "names no receiver; the receivers are debug" },
          {
            path: "routes[1].after",
            line: 3,
            message: "must be a duration such as 90s, 8h or 7d, from 0s to 7d",
          },
          { path: "routes[1].colour", line: 4, message: "is not a known field" },
        ],
      })
      assert.deepStrictEqual((yield* check("routes:\n  - to: [pager]\n")).body, {
        issues: [{ path: "routes[0].to[0]", line: 2, message: "names no receiver; the receivers are debug" }],
      })
    }),
  )

  scenario("1 MiB of anything is answered in time, and more is refused", () =>
    Effect.gen(function* () {
      const units = [
        "k: v\n",
        "{",
        '"',
        "a: |\n x\n",
        ...(AT_LENGTH ? ["- [a, b]\n", "*a ", "&a ", "\n"] : []),
      ]
      for (const unit of units) {
        const text = unit.repeat(Math.floor(MAX_POLICY_BYTES / unit.length))
        const { body, status } = yield* check(text)
        assert.strictEqual(status, 200)
        assert.isAbove((body as { issues: ReadonlyArray<unknown> }).issues.length, 0, unit)
      }
      const many = Array.from({ length: 30_000 }, (_, n) => `k${n}: v\n`).join("")
      const { issues } = (yield* check(many)).body as { issues: ReadonlyArray<{ line: number }> }
      assert.deepStrictEqual([issues.length, issues.at(-1)?.line], [30_000, 30_000])
      expectError(yield* check(" ".repeat(MAX_POLICY_BYTES + 1)), 413, "payload_too_large")
    }),
  )
}

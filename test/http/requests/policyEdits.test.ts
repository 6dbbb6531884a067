import { assert, describe, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import type { Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Effect } from "effect"
import { operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { storedPolicySource } from "../service/storedPolicySource.ts"
import { Tocsin } from "../service/Tocsin.ts"

const result = { outcome: "delivered" } as const
const debug: Notifier = {
  kind: "debug",
  send: () => Effect.succeed(result),
  test: Effect.succeed({ result, status: 200 }),
}
const notifiers = new Map([["debug", debug]])

const served = <E>(effect: Effect.Effect<void, E, Tocsin>, stored = true) =>
  Effect.provide(
    effect,
    Tocsin.layer(MemoryStorage.layer, {
      notifiers,
      rules: { notifiers: ["debug"], keepsNotifiers: false },
      ...(stored && { policySource: storedPolicySource(notifiers) }),
    }),
  )

const inForce = Effect.map(operate("GET", "/ops/v1/policy"), ({ body }) => String(Object(body).hash))

/** Sends changes of the policy in force, unless another is given. */
const patch = Effect.fnUntraced(function* (
  operations: unknown,
  { match, query = "" }: { readonly match?: string; readonly query?: string } = {},
) {
  return yield* operate("PATCH", `/ops/v1/policy${query}`, {
    json: operations,
    headers: { "if-match": match ?? (yield* inForce), "content-type": "application/json-patch+json" },
  })
})

const versions = Effect.map(
  operate("GET", "/ops/v1/policy/versions"),
  ({ body }) => Object(body).items as ReadonlyArray<{ readonly version: number; readonly text: string }>,
)

const ROUTE = { match: ["severity = critical"], to: ["debug"] }

describe("changes of the stored policy's text", () => {
  it.live("are one version, and leave the rest as it is", () =>
    served(
      Effect.gen(function* () {
        const first = yield* patch([{ op: "add", path: "/routes", value: [ROUTE] }])
        assert.strictEqual(first.status, 200)
        assert.deepInclude(Object(first.body), { version: 1, firings: [], unavailable: [] })
        const text = "# ours\nroutes: # all\n  - to: [debug] # log\n"
        assert.strictEqual((yield* operate("PUT", "/ops/v1/policy", { body: text })).status, 200)
        const second = yield* patch([
          { op: "test", path: "/routes/0/to", value: ["debug"] },
          { op: "add", path: "/routes/0", value: ROUTE },
          { op: "replace", path: "/routes/1/to/0", value: "debug" },
        ])
        const after =
          "# ours\nroutes: # all\n  - { match: [ severity = critical ], to: [ debug ] }\n  - to: [debug] # log\n"
        assert.deepInclude(Object(second.body), { version: 3, text: after })
        assert.strictEqual(yield* inForce, Object(second.body).hash)
        // An equal value is no version.
        const third = yield* patch([{ op: "replace", path: "/routes/0", value: ROUTE }])
        assert.deepInclude(Object(third.body), { version: 3, text: after })
        const removed = yield* patch([{ op: "remove", path: "/routes/0" }])
        assert.deepInclude(Object(removed.body), { version: 4, text })
      }),
    ),
  )

  it.live("that change nothing store nothing, also where nothing is stored", () =>
    served(
      Effect.gen(function* () {
        const hash = yield* inForce
        for (const operations of [
          [{ op: "test", path: "", value: {} }],
          [{ op: "replace", path: "", value: {} }],
          [
            { op: "add", path: "/routes", value: [ROUTE] },
            { op: "remove", path: "/routes" },
            { op: "test", path: "", value: {} },
          ],
        ]) {
          const answer = yield* patch(operations, { match: hash })
          assert.strictEqual(answer.status, 200)
          assert.deepInclude(Object(answer.body), { version: 0, hash, firings: [], unavailable: [] })
        }
        assert.deepStrictEqual(yield* versions, [])
        const { body } = yield* operate("GET", "/ops/v1/audit?action=policy.applied")
        assert.deepStrictEqual(Object(body).items, [])
      }),
    ),
  )

  it.live("are shown with their problems, and not stored, by dry_run", () =>
    served(
      Effect.gen(function* () {
        const tried = yield* patch([{ op: "add", path: "/routes", value: [{ to: ["pager"] }] }], {
          query: "?dry_run=true",
        })
        assert.strictEqual(tried.status, 200)
        assert.deepStrictEqual(tried.body, {
          text: "routes: [ { to: [ pager ] } ]\n",
          issues: [
            { path: "routes[0].to[0]", line: 1, message: "names no receiver; the receivers are debug" },
          ],
        })
        assert.deepStrictEqual(yield* versions, [])
      }),
    ),
  )

  it.live("are refused as a whole", () =>
    served(
      Effect.gen(function* () {
        const add = { op: "add", path: "/routes", value: [ROUTE] }
        for (const operations of [
          {},
          [],
          Array.from({ length: 51 }, () => add),
          [{ op: "move", from: "/routes", path: "/pages" }],
          [{ op: "add", path: "/routes" }],
          [add, { op: "remove", path: "/routes/1" }],
          [add, { op: "replace", path: "/routes/__proto__", value: 1 }],
          [{ ...add, path: "routes" }],
          [{ ...add, value: [{ to: ["pager"] }] }],
        ])
          expectError(yield* patch(operations), 400, "validation")
        const { body: moving } = yield* patch([{ op: "move", from: "/routes", path: "/pages" }])
        assert.include(JSON.stringify(moving), "[0] must be an object whose op is add, replace, test, remove")
        const failing = [add, { op: "test", path: "/routes/0/to", value: [] }]
        expectError(yield* patch(failing), 409, "conflict")
        expectError(yield* patch([add], { match: "another" }), 412, "conflict")
        const noMatch = yield* operate("PATCH", "/ops/v1/policy", { json: [add] })
        expectError(noMatch, 400, "validation")
        assert.deepStrictEqual(yield* versions, [])
      }),
    ),
  )

  it.live("are not made where the program decides", () =>
    served(
      Effect.gen(function* () {
        expectError(yield* patch([{ op: "add", path: "/routes", value: [] }]), 409, "conflict")
      }),
      false,
    ),
  )
})

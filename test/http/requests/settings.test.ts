import { assert, describe, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { Effect } from "effect"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { Tocsin, type TocsinOptions } from "../service/Tocsin.ts"

const PATH = "/ops/v1/settings"
const put = (name: string, value: unknown) => operate("PUT", `${PATH}/${name}`, { json: { value } })
const shown = Effect.map(operate("GET", PATH), ({ body }) => Object(body).items)

const served = <E>(effect: Effect.Effect<void, E, Tocsin>, options: TocsinOptions = {}) =>
  Effect.provide(
    effect,
    Tocsin.layer(MemoryStorage.layer, { ...options, rules: { stored: {}, ...options.rules } }),
  )

const DEFAULTS = [
  { name: "public_url", value: null, source: "default" },
  { name: "watch_loopback", value: false, source: "default" },
]

/** Stored settings over HTTP (docs/rules.md#stored-settings). */
describe("settings", () => {
  it.live("are stored, in force at once here, and removed", () =>
    served(
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* shown, DEFAULTS)
        const stored = { name: "public_url", value: "https://t.example.org/in", source: "stored" }
        assert.deepStrictEqual((yield* put("public_url", "https://t.example.org/in/")).body, stored)
        assert.deepStrictEqual(yield* shown, [stored, DEFAULTS[1]])
        yield* put("public_url", "https://t.example.org/in")
        const created = yield* operate("POST", "/ops/v1/integrations", {
          json: { name: "cron", kind: "ping" },
        })
        assert.match(Object(created.body).urls[0], /^https:\/\/t\.example\.org\/in\/in\/ping\//)
        assert.strictEqual((yield* put("watch_loopback", true)).status, 200)
        assert.deepStrictEqual((yield* operate("DELETE", `${PATH}/public_url`)).body, { count: 1 })
        assert.deepStrictEqual((yield* operate("DELETE", `${PATH}/public_url`)).body, { count: 0 })
        const audit = yield* itemsOf("/ops/v1/audit")
        assert.deepStrictEqual(
          audit.flatMap(({ action, parameters }) =>
            String(action).startsWith("setting.") ? [[action, parameters]] : [],
          ),
          [
            ["setting.removed", { value: "https://t.example.org/in" }],
            ["setting.changed", { value: "true" }],
            ["setting.changed", { value: "https://t.example.org/in" }],
          ],
        )
      }),
    ),
  )

  it.live("take only their values, by admins", () =>
    served(
      Effect.gen(function* () {
        const { readToken } = yield* Tocsin
        for (const [name, values] of [
          ["public_url", ["ftp://a", "https://u@a.example", "https://a.example/?q", "a.example", true, null]],
          ["watch_loopback", ["true", 1, null]],
        ] as const)
          for (const value of values) expectError(yield* put(name, value), 400, "validation")
        for (const name of ["colour", "SERVICE_PUBLIC_URL", "__proto__"]) {
          expectError(yield* put(name, true), 404, "not_found")
          expectError(yield* operate("DELETE", `${PATH}/${name}`), 404, "not_found")
        }
        assert.strictEqual((yield* call("GET", PATH, { token: readToken })).status, 200)
        const json = { value: true }
        expectError(
          yield* call("PUT", `${PATH}/watch_loopback`, { token: readToken, json }),
          403,
          "forbidden",
        )
        assert.deepStrictEqual(yield* shown, DEFAULTS)
      }),
    ),
  )

  it.live("of the environment win, also where they say no", () =>
    served(
      Effect.gen(function* () {
        const given = [
          { name: "public_url", value: "https://env.example.org", source: "environment" },
          { name: "watch_loopback", value: false, source: "environment" },
        ]
        assert.deepStrictEqual(yield* shown, given)
        expectError(yield* put("public_url", "https://t.example.org"), 409, "conflict")
        expectError(yield* put("watch_loopback", true), 409, "conflict")
        assert.deepStrictEqual(yield* shown, given)
      }),
      { rules: { publicUrl: "https://env.example.org", watchLoopback: false } },
    ),
  )
})

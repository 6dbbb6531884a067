import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import { linkKey } from "../src/keptSecret.ts"
import { Effect, Redacted } from "effect"

const scratchFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tocsin-link-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true })),
)

const keyOf = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
  const settings = yield* Effect.fromResult(checkedSettings(environment))
  const key = yield* Effect.provide(linkKey(settings), NodeServices.layer)
  assert.notMatch(String(key) + JSON.stringify(settings), /[0-9a-f]{64}/)
  return key && Redacted.value(key)
})

describe("the link key", () => {
  it.live("is generated once, and kept for its owner alone", () =>
    Effect.gen(function* () {
      const folder = yield* scratchFolder
      const file = join(folder, "link-key")
      const made = yield* Effect.all(
        Array.from({ length: 4 }, () => keyOf({ SERVICE_DATA_DIR: folder })),
        { concurrency: "unbounded" },
      )
      assert.strictEqual(new Set(made).size, 1)
      assert.strictEqual(readFileSync(file, "utf8"), `${made[0]}\n`)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.strictEqual(yield* keyOf({ SERVICE_DATA_DIR: folder }), made[0])
      writeFileSync(file, "abc\n")
      const { message } = yield* Effect.flip(keyOf({ SERVICE_DATA_DIR: folder }))
      assert.strictEqual(
        message,
        `the link key file ${file} cannot be used; check its permissions, delete it, or set SERVICE_LINK_KEY`,
      )
    }),
  )

  it.live("is that of the settings; PostgreSQL has none without, and a passing database a new one", () =>
    Effect.gen(function* () {
      const key = "5a".repeat(32)
      assert.strictEqual(yield* keyOf({ SERVICE_LINK_KEY: key, DATABASE_URL: "memory:" }), key)
      const postgres = { DATABASE_URL: "postgres://u:p@127.0.0.1/tocsin", SERVICE_AUTH_TOKEN: "a" }
      assert.isUndefined(yield* keyOf(postgres))
      assert.match((yield* keyOf({ DATABASE_URL: "memory:" })) ?? "", /^[0-9a-f]{64}$/)
      const { message } = yield* Effect.flip(keyOf({ SERVICE_LINK_KEY: "5a" }))
      assert.include(message, "64 hex digits")
    }),
  )
})

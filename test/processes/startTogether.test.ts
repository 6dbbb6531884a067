import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { enroll, report } from "./Agent.ts"
import { call, historyOf, OPERATOR_TOKEN } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import type { Environment } from "./secrecy.ts"
import { startServer } from "./ServerProcess.ts"

const PROCESSES = 3

const startTogether = Effect.fnUntraced(function* (environment: Environment) {
  const cwd = yield* scratchFolder
  const servers = yield* Effect.all(
    Array.from({ length: PROCESSES }, () => startServer({ cwd, environment })),
    { concurrency: PROCESSES },
  )
  return { cwd, servers }
})

describe("servers that start simultaneously on one empty storage", () => {
  it.live("migrate a PostgreSQL once", () =>
    Effect.gen(function* () {
      const { url, replica } = yield* scratchPostgres
      const { servers } = yield* startTogether({
        DATABASE_URL: Redacted.value(url),
        SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
      })
      for (const [index, server] of servers.entries()) {
        const agent = yield* enroll(server, `web-${index}`)
        yield* report(server, agent, { check_id: "disk", status: "ok" })
      }
      for (const server of servers) assert.lengthOf(yield* historyOf(server), PROCESSES)
      const { sql } = yield* replica({ maxConnections: 1 })
      assert.lengthOf(yield* sql`SELECT id FROM schema_migration WHERE id = 1`, 1)
    }),
  )

  it.live("share a data folder: one database, and one printed token", () =>
    Effect.gen(function* () {
      const { cwd, servers } = yield* startTogether({})
      const token = readFileSync(join(cwd, "data", "ui-token"), "utf8")
      assert.sameMembers(
        servers.map(({ output }) => output.stdout),
        [token, "", ""],
      )
      for (const server of servers) {
        const { status } = yield* Effect.orDie(call(server, "GET", "/api/v1/agents", { token: token.trim() }))
        assert.strictEqual(status, 200)
      }
      const database = new DatabaseSync(join(cwd, "data", "tocsin.db"), { readOnly: true })
      const noted = database.prepare("SELECT count(*) AS rows, max(id) AS last FROM schema_migration").get()
      assert.strictEqual(noted?.["rows"], noted?.["last"])
      database.close()
    }),
  )
})

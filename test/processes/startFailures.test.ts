import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import process from "node:process"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { faultyNetwork } from "../postgres/faultyNetwork.ts"
import { OPERATOR_TOKEN } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { type Environment, secretOf, webhookSecretOf } from "./secrecy.ts"
import { launch, startServer } from "./ServerProcess.ts"

const inMemory = { DATABASE_URL: "memory:", SERVICE_AUTH_TOKEN: OPERATOR_TOKEN }

/** The output of a server that cannot start, without its log. */
const refusal = Effect.fnUntraced(function* (cwd: string, environment: Environment, uid?: number) {
  const server = yield* launch({ cwd, environment, uid })
  assert.deepStrictEqual(yield* server.ended, { code: 1, signal: null }, server.output.stderr)
  assert.notMatch(server.output.stderr, /\n\s+at /)
  assert.match(server.output.stderr, /\n$/)
  return server.output.stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"))
})

const cannotStart = (message: string): ReadonlyArray<string> => [`Tocsin cannot start: ${message}`]

const occupiedPort = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ port, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close),
)

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

const isOpenToAll = (path: string): boolean =>
  (statSync(path).mode & 0o001) !== 0 && (path === dirname(path) || isOpenToAll(dirname(path)))

/**
 * Root may write everywhere, so it starts the server as an unprivileged user, who must be able to
 * read the checkout.
 */
const cannotProvoke = isRoot && !isOpenToAll(dirname(fileURLToPath(import.meta.url)))

/** A data folder that a server has used. */
const usedFolder = Effect.fnUntraced(function* (environment: Environment = {}) {
  const folder = yield* scratchFolder
  yield* Effect.scoped(Effect.flatMap(startServer({ cwd: folder, environment }), ({ stop }) => stop))
  return { folder, file: join(folder, "data", "tocsin.db") }
})

describe.concurrent("a server that cannot start reports the reason in one message and exits with 1:", () => {
  it.live("its port is in use", () =>
    Effect.gen(function* () {
      const { port } = yield* occupiedPort
      assert.deepStrictEqual(
        yield* refusal(yield* scratchFolder, { ...inMemory, SERVICE_PORT: String(port) }),
        cannotStart(
          `listen EADDRINUSE: address already in use 127.0.0.1:${port}; ` +
            "stop the program that listens there, or set SERVICE_HOST and SERVICE_PORT to another address",
        ),
      )
    }),
  )

  it.live("its data folder is a file", () =>
    Effect.gen(function* () {
      const folder = yield* scratchFolder
      writeFileSync(join(folder, "data"), "")
      assert.deepStrictEqual(
        yield* refusal(folder, {}),
        cannotStart(
          "the data folder ./data cannot be created; check that no file has its name and that its parent is writable, or set SERVICE_DATA_DIR",
        ),
      )
    }),
  )

  it.live.skipIf(cannotProvoke)(
    `its data folder is not writable${cannotProvoke ? " (skipped: only root can read this checkout)" : ""}`,
    () =>
      Effect.gen(function* () {
        const folder = yield* scratchFolder
        chmodSync(folder, 0o555)
        const uid = isRoot ? NOBODY : undefined
        const message = `the data folder ${folder} is not writable; give Tocsin's user write access, or set SERVICE_DATA_DIR`
        for (const environment of [{}, { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN }]) {
          assert.deepStrictEqual(
            yield* refusal("/", { SERVICE_DATA_DIR: folder, ...environment }, uid),
            cannotStart(message),
          )
        }
        assert.deepStrictEqual(readdirSync(folder), [])
      }),
  )

  it.live("its token file has no token", () =>
    Effect.gen(function* () {
      const folder = yield* scratchFolder
      mkdirSync(join(folder, "data"))
      writeFileSync(join(folder, "data", "ui-token"), "two words\n")
      assert.deepStrictEqual(
        yield* refusal(folder, {}),
        cannotStart(
          "the token file data/ui-token cannot be used; check its permissions, delete it, or set SERVICE_AUTH_TOKEN",
        ),
      )
    }),
  )

  it.live("its database is damaged, and stays unchanged", () =>
    Effect.gen(function* () {
      const folder = yield* scratchFolder
      mkdirSync(join(folder, "data"))
      const file = join(folder, "data", "tocsin.db")
      const damaged = Buffer.alloc(20_000, "no database")
      writeFileSync(file, damaged)
      assert.deepStrictEqual(
        yield* refusal(folder, {}),
        cannotStart("data/tocsin.db is not an SQLite database: move it away, or restore it from a backup"),
      )
      assert.isTrue(readFileSync(file).equals(damaged))
    }),
  )

  it.live("its database is newer, and stays unchanged", () =>
    Effect.gen(function* () {
      const { folder, file } = yield* usedFolder()
      const database = new DatabaseSync(file)
      database.exec("INSERT INTO schema_migration VALUES (9999, 'later', 'checksum', 0)")
      database.close()
      const before = readFileSync(file)
      assert.deepStrictEqual(
        yield* refusal(folder, {}),
        cannotStart(
          "data/tocsin.db was written by a newer version of Tocsin: start that version or a later one, or restore the backup from before its upgrade",
        ),
      )
      assert.isTrue(readFileSync(file).equals(before))
    }),
  )

  it.live("its pepper has changed", () =>
    Effect.gen(function* () {
      const { folder } = yield* usedFolder({ SERVICE_KEY_PEPPER: secretOf("pepper") })
      const message =
        "SERVICE_KEY_PEPPER differs from the value this storage was first used with, so no agent key would match; " +
        "set the original value (or unset it if there was none)"
      assert.deepStrictEqual(yield* refusal(folder, {}), cannotStart(message))
      assert.deepStrictEqual(
        yield* refusal(folder, { SERVICE_KEY_PEPPER: secretOf("other-pepper") }),
        cannotStart(message),
      )
    }),
  )

  it.live("settings are bad: all in one message, without secrets", () =>
    Effect.gen(function* () {
      const environment = {
        SERVICE_AUTH_TOKEN: `${secretOf("operator")}\u00e9`,
        SERVICE_PORT: "eighty",
        DATABASE_URL: `mysql://${secretOf("user")}:${secretOf("password")}@db.example/tocsin`,
        SERVICE_STALE_AFTER: "10m",
        SERVICE_WEBHOOK_URL: `ftp://${secretOf("user")}@hooks.example/${secretOf("path")}`,
        SERVICE_WEBHOOK_SECRET: `${webhookSecretOf("right")} whsec_${secretOf("wrong")}`,
        SERVICE_ALERT_ROUTER_URL: `http://${secretOf("user")}@169.254.169.254/${secretOf("path")}`,
        SERVICE_TELEGRAM_TOKEN: secretOf("telegram"),
        SERVICE_LOG_LEVEL: "loud",
      }
      assert.deepStrictEqual(yield* refusal(yield* scratchFolder, environment), [
        "Tocsin cannot start with these settings (see --help):",
        "  SERVICE_AUTH_TOKEN is set to a value that is not shown, but must be tokens of 1 to 512 visible ASCII characters, separated by spaces or commas",
        '  SERVICE_PORT is set to "eighty", but must be a whole number from 0 to 65535',
        "  DATABASE_URL is set to a value that is not shown, but must be unset (SQLite in tocsin.db of SERVICE_DATA_DIR), memory: or postgres://user:password@host:port/database, with special characters percent-encoded",
        "  SERVICE_WEBHOOK_URL is set to a value that is not shown, but must be a URL that begins with http:// or https://",
        "  SERVICE_WEBHOOK_SECRET is set to a value that is not shown, but must be whsec_ followed by 24 to 64 bytes in base64 (padded, as printed by openssl rand -base64 32), several separated by spaces",
        '  SERVICE_LOG_LEVEL is set to "loud", but must be trace, debug, info, warn or error',
        "  SERVICE_DEAD_AFTER must be longer than SERVICE_STALE_AFTER",
        "  SERVICE_TELEGRAM_CHAT and SERVICE_TELEGRAM_TOKEN must be set together",
        "  SERVICE_ALERT_ROUTER_URL must not be a link-local or cloud metadata address",
      ])
    }),
  )

  it.live("its thresholds are too short to detect an outage", () =>
    Effect.gen(function* () {
      const unordered = "SERVICE_DEAD_AFTER must be longer than SERVICE_STALE_AFTER"
      const short = 'is set to "1999ms", but must be a duration such as 90s, 8h or 7d, from 2s to 36500d'
      const cases: ReadonlyArray<readonly [environment: Readonly<Record<string, string>>, message: string]> =
        [
          [{ SERVICE_STALE_AFTER: "1999ms" }, `SERVICE_STALE_AFTER ${short}`],
          [{ SERVICE_DEAD_AFTER: "1999ms" }, `SERVICE_DEAD_AFTER ${short}`],
          [{ SERVICE_STALE_AFTER: "2s", SERVICE_DEAD_AFTER: "2s" }, unordered],
          [{ SERVICE_DEAD_AFTER: "119s" }, unordered],
        ]
      for (const [environment, message] of cases) {
        assert.deepStrictEqual(yield* refusal(yield* scratchFolder, environment), [
          "Tocsin cannot start with these settings (see --help):",
          `  ${message}`,
        ])
      }
    }),
  )

  it.live("it uses PostgreSQL without a token", () =>
    Effect.gen(function* () {
      const environment = { DATABASE_URL: `postgres://tocsin:${secretOf("password")}@127.0.0.1:1/tocsin` }
      assert.deepStrictEqual(yield* refusal(yield* scratchFolder, environment), [
        "Tocsin cannot start with these settings (see --help):",
        "  SERVICE_AUTH_TOKEN is not set, but PostgreSQL requires it: generate a token with openssl rand -base64 32",
      ])
    }),
  )
})

describe.concurrent("a server that cannot start on its PostgreSQL reports the reason:", () => {
  const start = Effect.fnUntraced(function* (databaseUrl: string) {
    const environment = { DATABASE_URL: databaseUrl, SERVICE_AUTH_TOKEN: OPERATOR_TOKEN }
    return yield* refusal(yield* scratchFolder, environment)
  })
  const changed = (url: Redacted.Redacted, changes: Partial<URL>): string =>
    Object.assign(new URL(Redacted.value(url)), changes).href

  it.live("nothing listens at any of several hosts", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* start(`postgres://tocsin:${secretOf("password")}@127.0.0.1:1,127.0.0.1:2/tocsin`),
        cannotStart(
          "PostgreSQL is unreachable: check that it is running, and check the host and port in the database URL",
        ),
      )
    }),
  )

  it.live("nothing listens", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* start(`postgres://tocsin:${secretOf("password")}@127.0.0.1:1/tocsin`),
        cannotStart(
          "PostgreSQL is unreachable: check that it is running, and check the host and port in the database URL",
        ),
      )
    }),
  )

  it.live("it does not answer", () =>
    Effect.gen(function* () {
      const network = yield* faultyNetwork((yield* scratchPostgres).url)
      yield* network.holdReplies
      const [message = "", ...rest] = yield* start(Redacted.value(network.url))
      assert.match(message, /^Tocsin cannot start: .*PostgreSQL/)
      assert.deepStrictEqual(rest, [])
    }),
  )

  it.live("it refuses connections", () =>
    Effect.gen(function* () {
      const { url, away } = yield* scratchPostgres
      yield* away
      const [message = "", ...rest] = yield* start(Redacted.value(url))
      assert.match(
        message,
        /^Tocsin cannot start: PostgreSQL lets nobody into the database in the URL: allow it/,
      )
      assert.deepStrictEqual(rest, [])
    }),
  )

  it.live("the password is wrong, or the database does not exist", () =>
    Effect.gen(function* () {
      const { url } = yield* scratchPostgres
      assert.deepStrictEqual(
        yield* start(changed(url, { password: secretOf("wrong") })),
        cannotStart(
          "PostgreSQL rejected the user or password in the database URL: correct them, or allow the user in pg_hba.conf",
        ),
      )
      assert.deepStrictEqual(
        yield* start(changed(url, { pathname: "no_such_database" })),
        cannotStart("the database in the URL does not exist: create it, or correct its name"),
      )
    }),
  )

  it.live("the database is newer", () =>
    Effect.gen(function* () {
      const { url, replica } = yield* scratchPostgres
      const environment = { DATABASE_URL: Redacted.value(url), SERVICE_AUTH_TOKEN: OPERATOR_TOKEN }
      const cwd = yield* scratchFolder
      yield* Effect.scoped(Effect.flatMap(startServer({ cwd, environment }), ({ stop }) => stop))
      const { sql } = yield* replica({ maxConnections: 1 })
      yield* sql`INSERT INTO schema_migration VALUES (9999, 'later', 'checksum', 0)`
      assert.deepStrictEqual(
        yield* start(Redacted.value(url)),
        cannotStart(
          "the database was written by a newer version of Tocsin: start that version or a later one, or restore the backup from before its upgrade",
        ),
      )
    }),
  )
})

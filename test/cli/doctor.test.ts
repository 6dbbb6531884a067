import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import process from "node:process"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect, Redacted } from "effect"
import { enroll, report } from "../processes/Agent.ts"
import { operate, outboxOf } from "../processes/api.ts"
import { throughPgBouncer, withoutTransactionMode } from "../postgres/pgBouncer.ts"
import { scratchFolderOnDisk, scratchPostgres } from "../processes/scratch.ts"
import { secretOf, webhookSecretOf } from "../processes/secrecy.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { CLIENT, openHostileIssuer } from "../signIn/HostileIssuer.ts"
import { type Place, places, serverAt, tocsin } from "./tocsin.ts"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

interface Finding {
  readonly check: string
  readonly level: "ok" | "attention" | "failed"
  readonly message: string
}

/** The doctor's findings at a place, and its exit code. */
const examine = Effect.fnUntraced(function* (place: Place, ...args: ReadonlyArray<string>) {
  const { code, stdout } = yield* tocsin(place, "doctor", "--json", ...args)
  const { findings } = JSON.parse(stdout) as { findings: ReadonlyArray<Finding> }
  return { code, findings }
})

/** Without the disk's speed, which other programs of the machine decide too. */
const notOk = (findings: ReadonlyArray<Finding>) =>
  findings
    .filter(({ check, level }) => level !== "ok" && check !== "disk sync")
    .map(({ check, level }) => `${check}: ${level}`)

const messageOf = (findings: ReadonlyArray<Finding>, check: string): string =>
  findings.find((finding) => finding.check === check)?.message ?? ""

/** A receiver of webhooks that answers everything with one status. */
const receiverOf = (status: number) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer((_, response) => void response.writeHead(status).end())
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = () => server.closeAllConnections()
        resume(
          Effect.succeed({
            url: `http://${secretOf("user")}:${secretOf("password")}@127.0.0.1:${port}/`,
            close,
          }),
        )
      })
    }),
    ({ close }) => Effect.sync(close),
  )

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
const isOpenToAll = (path: string): boolean =>
  (statSync(path).mode & 0o001) !== 0 && (path === dirname(path) || isOpenToAll(dirname(path)))
/**
 * Root may write everywhere, so it runs the doctor as an unprivileged user, who must be able to
 * read the checkout.
 */
const cannotProvoke = isRoot && !isOpenToAll(dirname(fileURLToPath(import.meta.url)))
const whyNot = cannotProvoke ? "only root can read this checkout" : undefined

describe.concurrent("the doctor", () => {
  it.live.each(places)(
    "finds a running service on $name well, and its receivers that accept a test",
    ({ make }) =>
      Effect.gen(function* () {
        const place = { ...(yield* make), cwd: yield* scratchFolderOnDisk }
        yield* startServer(serverAt(place))
        const well = yield* receiverOf(204)
        const environment = {
          ...serverAt(place).environment,
          SERVICE_WEBHOOK_URL: well.url,
          SERVICE_WEBHOOK_SECRET: webhookSecretOf("doctor"),
        }
        yield* until(
          "the server has written a heartbeat of the service",
          Effect.map(examine(place), (seen) => messageOf(seen.findings, "server").startsWith("last ")),
        )
        const { code, findings } = yield* examine({ ...place, environment }, "--send-test")
        // The PostgreSQL that tests bring along does not sync, and the doctor says so.
        const isUnsafe = messageOf(findings, "durability").includes("fsync")
        assert.deepStrictEqual(notOk(findings), isUnsafe ? ["durability: attention"] : [])
        assert.strictEqual(code, isUnsafe ? EXIT_CODES.attention.code : EXIT_CODES.ok.code)
        assert.match(messageOf(findings, "server"), /^last service heartbeat \d+s ago/)
        assert.match(
          messageOf(findings, "notifier webhook"),
          /^http:\/\/127.0.0.1:\d+ accepted the test message \(status 204\)$/,
        )

        const ill = yield* receiverOf(403)
        const refused = yield* examine(
          {
            ...place,
            environment: {
              ...environment,
              SERVICE_WEBHOOK_URL: ill.url,
              SERVICE_KEY_PEPPER: secretOf("pepper"),
            },
          },
          "--send-test",
        )
        assert.includeMembers(notOk(refused.findings), ["pepper: failed", "notifier webhook: failed"])
        assert.strictEqual(refused.code, EXIT_CODES.usage.code)
      }),
  )

  it.live("examines delivery to the running server's receivers, if this shell's settings name others", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolderOnDisk
      const alone = yield* examine({ cwd, environment: {} })
      assert.strictEqual(
        messageOf(alone.findings, "receivers"),
        "the receivers examined here are those of this shell's settings; a policy in force may replace those of SERVICE_* settings",
      )
      const { url } = yield* receiverOf(503)
      const environment = { SERVICE_WEBHOOK_URL: url, SERVICE_WEBHOOK_SECRET: webhookSecretOf("doctor") }
      const server = yield* startServer(serverAt({ cwd, environment }))
      const agent = yield* enroll(server, "web-1")
      yield* report(server, agent, { check_id: "disk", status: "critical" })
      const job = { check_id: "backup", cron: "0 3 * * *", tz: "UTC" }
      const checks = [job, { ...job, check_id: "sync", severity: "unknown" }]
      const path = "/ops/v1/agents/web-1/expectations"
      yield* operate(server, "PUT", path, { token: agent.key, json: { checks } })
      yield* until(
        "the webhook has failed",
        Effect.map(outboxOf(server), (items) => items.some(({ state }) => state === "retry")),
      )
      const other = yield* examine({ cwd, environment: {} })
      assert.strictEqual(
        messageOf(other.findings, "receivers"),
        "the running servers send to debug, webhook; the receivers examined here are those of this shell's settings",
      )
      assert.match(messageOf(other.findings, "delivery"), /^the receiver webhook began to fail /)
      const same = yield* examine({ cwd, environment })
      assert.strictEqual(messageOf(same.findings, "receivers"), "")
      assert.strictEqual(
        same.findings.find(({ check }) => check === "jobs")?.message,
        "1 job unknown while late, as their severity says",
      )

      writeFileSync(join(cwd, "policy.yaml"), "routes: [{ match: ['incident_key = web-1/@overdue'] }]\n")
      const withRoutes = { cwd, environment: { ...environment, SERVICE_POLICY_FILE: "policy.yaml" } }
      const linking = `receivers: { phone: { kind: messenger, type: ntfy, url_env: TOPIC, acknowledge: 1h } }\n`
      writeFileSync(join(cwd, "linking.yaml"), linking)
      const links = {
        SERVICE_POLICY_FILE: "linking.yaml",
        TOPIC: `https://ntfy.example/${secretOf("topic")}`,
      }
      const withLinks = { cwd, environment: { ...environment, ...links } }
      assert.match(
        (yield* examine(withLinks)).findings.map(({ message }) => message).join(),
        /no link that ack/,
      )
      const json = { value: "https://tocsin.example" }
      yield* operate(server, "PUT", "/ops/v1/settings/public_url", { json })
      const stored = yield* examine(withLinks)
      assert.strictEqual(messageOf(stored.findings, "links"), "")
      assert.match(messageOf(stored.findings, "proxies"), /^the public address has https/)
      const unmatched =
        "matches no late check any more (incident_key = web-1/@overdue), as each of web-1 has its own incident; write incident_key glob web-1/*@overdue for all of them, or check_id for one"
      const { findings } = yield* examine(withRoutes)
      assert.strictEqual(
        messageOf(findings, "matchers"),
        `correct this matcher: routes[0].match[0] ${unmatched}`,
      )
      assert.strictEqual(messageOf(findings, "on call"), "")
      const checked = yield* tocsin(withRoutes, "policy", "check", "policy.yaml")
      assert.include(checked.stderr, `warning: policy.yaml: routes[0].match[0] ${unmatched}`)
    }),
  )

  it.live("asks for attention if PostgreSQL allows fewer connections than a server needs", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* scratchPostgres
      const environment = { DATABASE_URL: Redacted.value(url) }
      const cwd = yield* scratchFolderOnDisk
      const { findings } = yield* examine({ cwd, environment })
      assert.match(messageOf(findings, "connections"), /^this server opens up to 19 of \d+$/)
      const { sql } = yield* replica()
      const { pathname } = new URL(Redacted.value(url))
      yield* sql.unsafe(`ALTER DATABASE "${pathname.slice(1)}" CONNECTION LIMIT 18`)
      const few = yield* examine({ cwd, environment })
      assert.match(
        messageOf(few.findings, "connections"),
        /^this server opens up to 19 connections, but PostgreSQL allows 18: raise max_connections/,
      )
      assert.include(notOk(few.findings), "connections: attention")
    }),
  )

  it.live("says why receivers of a server on PostgreSQL have no link that acknowledges", () =>
    Effect.gen(function* () {
      const { url } = yield* scratchPostgres
      const cwd = yield* scratchFolderOnDisk
      const receiver = "{ kind: messenger, type: ntfy, url_env: NTFY_URL, acknowledge: 1h }"
      writeFileSync(join(cwd, "policy.yaml"), `receivers:\n  phone: ${receiver}\n`)
      const NTFY_URL = `https://ntfy.example/${secretOf("topic")}`
      const said = (settings: object) =>
        Effect.map(
          examine({ cwd, environment: { SERVICE_POLICY_FILE: "policy.yaml", NTFY_URL, ...settings } }),
          ({ findings }) => messageOf(findings, "links"),
        )
      const server = { DATABASE_URL: Redacted.value(url) }
      const people = { SERVICE_PUBLIC_URL: "https://tocsin.example" }
      assert.match(
        yield* said(server),
        /^messages to phone have no link that acknowledges: set SERVICE_PUBLIC_URL \(or the public address in Settings\) and SERVICE_LINK_KEY, /,
      )
      assert.match(yield* said({ ...server, ...people }), /acknowledges: set SERVICE_LINK_KEY, the same/)
      assert.strictEqual(yield* said({ ...server, ...people, SERVICE_LINK_KEY: "0a".repeat(32) }), "")
      // A server on SQLite makes a key.
      assert.strictEqual(yield* said(people), "")
    }),
  )

  it.live("examines the receivers of a policy file and the issuer of sign-in, and names their problems", () =>
    Effect.gen(function* () {
      const well = yield* receiverOf(204)
      const cwd = yield* scratchFolderOnDisk
      const environment = {
        SERVICE_POLICY_FILE: "policy.yaml",
        PAGER_URL: well.url,
        PAGER_SECRET: webhookSecretOf("pager"),
      }
      const pager = "pager: { kind: webhook, url_env: PAGER_URL, secret_env: PAGER_SECRET }"
      writeFileSync(join(cwd, "policy.yaml"), `receivers:\n  ${pager}\n`)
      const issuer = yield* openHostileIssuer
      const signingIn = {
        ...environment,
        SERVICE_PUBLIC_URL: "http://localhost:1",
        SERVICE_OIDC_ISSUER: issuer.url,
        SERVICE_OIDC_CLIENT_ID: CLIENT.id,
        SERVICE_OIDC_CLIENT_SECRET: secretOf("client"),
        SERVICE_OIDC_RESPOND: "ops",
      }
      const { findings } = yield* examine({ cwd, environment: signingIn }, "--send-test")
      assert.strictEqual(messageOf(findings, "policy"), "the policy file is valid")
      assert.strictEqual(
        messageOf(findings, "sign-in"),
        `people sign in by ${issuer.url}, which returns them to http://localhost:1/`,
      )
      assert.strictEqual(
        messageOf(findings, "receiver pager"),
        "its webhook accepted the test message (status 204)",
      )
      assert.isFalse(findings.some(({ check }) => check.startsWith("notifier")))

      writeFileSync(join(cwd, "policy.yaml"), `receivers:\n  ${pager}\nroutes:\n  - { to: [chat] }\n`)
      issuer.faults = { metadata: { issuer: "https://another.example" } }
      const bad = yield* examine({ cwd, environment: signingIn })
      assert.include(notOk(bad.findings), "sign-in: attention")
      assert.include(messageOf(bad.findings, "sign-in"), "has another name: set SERVICE_OIDC_ISSUER exactly")
      assert.include(
        messageOf(bad.findings, "policy"),
        "policy.yaml:4: routes[0].to[0] names no receiver; the receivers are pager; set SERVICE_EXTENSIONS if a module gives it",
      )
      assert.strictEqual(bad.code, EXIT_CODES.failed.code)
    }),
  )

  it.live("reports every bad setting, and examines the rest", () =>
    Effect.gen(function* () {
      const environment = {
        SERVICE_PORT: "eighty",
        DATABASE_URL: `postgres://${secretOf("user")}:${secretOf("password")}@127.0.0.1:1/tocsin`,
      }
      const { code, findings } = yield* examine({ cwd: yield* scratchFolderOnDisk, environment })
      assert.deepStrictEqual(notOk(findings), ["settings: failed", "settings: attention", "storage: failed"])
      assert.match(messageOf(findings, "storage"), /^PostgreSQL is unreachable: /)
      assert.strictEqual(code, EXIT_CODES.usage.code)
    }),
  )

  it.live("examines the watchdog ping and the allowed origins", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolderOnDisk, environment: {} }
      yield* tocsin(place, "migrate")
      const origins = "https://dashboard.example http://localhost:3000"
      const well = yield* receiverOf(204)
      const environment = {
        SERVICE_WATCHDOG_URL: `${well.url}${secretOf("ping")}`,
        SERVICE_ALLOWED_ORIGINS: origins,
      }
      const shown = yield* examine({ ...place, environment })
      assert.match(
        messageOf(shown.findings, "watchdog"),
        /^goes to http:\/\/127.0.0.1:\d+ every 1m; --send-test/,
      )
      assert.strictEqual(
        messageOf(shown.findings, "browsers"),
        "pages of https://dashboard.example, http://localhost:3000 may call",
      )
      const sent = yield* examine({ ...place, environment }, "--send-test")
      assert.match(
        messageOf(sent.findings, "watchdog"),
        /^http:\/\/127.0.0.1:\d+ accepted a watchdog ping \(status 204\)$/,
      )
      const ill = yield* receiverOf(404)
      const refused = yield* examine(
        { ...place, environment: { SERVICE_WATCHDOG_URL: ill.url, SERVICE_ALLOWED_ORIGINS: "*" } },
        "--send-test",
      )
      assert.includeMembers(notOk(refused.findings), ["watchdog: failed", "browsers: attention"])
      const plain = yield* examine({
        ...place,
        environment: { SERVICE_ALLOWED_ORIGINS: "http://plain.example" },
      })
      assert.include(notOk(plain.findings), "browsers: attention")
    }),
  )

  it.live("warns when the server has been silent", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolderOnDisk, environment: {} }
      yield* tocsin(place, "migrate")
      const database = new DatabaseSync(join(place.cwd, "data", "tocsin.db"))
      database.exec(
        "INSERT INTO service_heartbeat (name, beat_at) VALUES ('service', (unixepoch() - 605) * 1000000)",
      )
      database.close()
      const { code, findings } = yield* examine(place)
      assert.deepStrictEqual(notOk(findings), ["server: attention"])
      assert.match(messageOf(findings, "server"), /^last service heartbeat 10m ago: start the server;/)
      assert.strictEqual(code, EXIT_CODES.attention.code)
    }),
  )

  it.live("warns when no server has run yet, and creates nothing", () =>
    Effect.gen(function* () {
      const { code, findings } = yield* examine({ cwd: yield* scratchFolderOnDisk, environment: {} })
      assert.deepStrictEqual([notOk(findings), code], [["storage: attention"], EXIT_CODES.attention.code])
    }),
  )

  it.live.skipIf(cannotProvoke)(`finds a read-only folder${skippedFor(whyNot)}`, () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolderOnDisk, environment: {} }
      yield* tocsin(place, "migrate")
      chmodSync(place.cwd, 0o755)
      chmodSync(join(place.cwd, "data"), 0o555)
      const { code, findings } = yield* examine(isRoot ? { ...place, uid: NOBODY } : place)
      assert.deepStrictEqual(notOk(findings), ["storage: failed", "disk: failed"])
      assert.match(messageOf(findings, "storage"), /is not writable: give Tocsin's user write access$/)
      assert.strictEqual(code, EXIT_CODES.storage.code)
      chmodSync(join(place.cwd, "data"), 0o755)
    }),
  )

  it.live.skipIf(!isRoot || cannotProvoke)(
    `sends a user who may not read the data to the service's user, as other commands do${skippedFor(isRoot ? whyNot : "needs root")}`,
    () =>
      Effect.gen(function* () {
        const place = { cwd: yield* scratchFolderOnDisk, environment: {} }
        yield* tocsin(place, "migrate")
        chmodSync(place.cwd, 0o755)
        const stranger = { ...place, uid: NOBODY }
        const { code, findings } = yield* examine(stranger)
        assert.match(messageOf(findings, "storage"), /run the command as the service's user/)
        assert.strictEqual(code, EXIT_CODES.storage.code)
        for (const args of [["agents", "list"], ["summary"], ["migrate"], ["backup", "/tmp/never-made.db"]]) {
          const ran = yield* tocsin(stranger, ...args)
          assert.match(ran.stderr, /this user may not read the folder of .*: run the command as/, args[0])
          assert.strictEqual(ran.code, EXIT_CODES.storage.code)
        }
      }),
  )

  it.live("finds a read-only PostgreSQL", () =>
    Effect.gen(function* () {
      const { url, replica } = yield* scratchPostgres
      const place = { cwd: yield* scratchFolderOnDisk, environment: { DATABASE_URL: Redacted.value(url) } }
      yield* tocsin(place, "migrate")
      const { sql } = yield* replica({ maxConnections: 1 })
      const [row] = yield* sql<{ name: string }>`SELECT current_database() AS name`
      yield* sql.unsafe(`ALTER DATABASE ${row?.name} SET default_transaction_read_only = on`)
      const { code, findings } = yield* examine(place)
      assert.include(notOk(findings), "permissions: failed")
      assert.match(messageOf(findings, "permissions"), /^the database is read-only: /)
      assert.strictEqual(code, EXIT_CODES.storage.code)
    }),
  )

  it.live(
    "names PostgreSQL's tables of another owner, and limits behind a pooler that exchanges sessions",
    () =>
      Effect.gen(function* () {
        const { url, replica } = yield* scratchPostgres
        const { sql } = yield* replica({ maxConnections: 1 })
        const [row] = yield* sql<{ name: string }>`SELECT current_database() AS name`
        const user = `tocsin_test_${row?.name}`
        const password = secretOf("owner")
        yield* Effect.acquireRelease(sql.unsafe(`CREATE ROLE ${user} LOGIN PASSWORD '${password}'`), () =>
          Effect.orDie(Effect.andThen(sql.unsafe(`DROP OWNED BY ${user}`), sql.unsafe(`DROP ROLE ${user}`))),
        )
        const cwd = yield* scratchFolderOnDisk
        yield* tocsin({ cwd, environment: { DATABASE_URL: Redacted.value(url) } }, "migrate")
        yield* sql.unsafe(`GRANT CREATE ON SCHEMA public TO ${user}`)
        yield* sql.unsafe(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${user}`)
        yield* sql.unsafe(`ALTER ROLE ${user} SET idle_in_transaction_session_timeout = '1ms'`)
        const own = new URL(Redacted.value(url))
        own.username = user
        own.password = password
        const { code, findings } = yield* examine({ cwd, environment: { DATABASE_URL: own.href } })
        assert.include(notOk(findings), "permissions: attention")
        // Each session of Tocsin sets its own limits.
        assert.notInclude(notOk(findings), "limits: attention")
        assert.match(
          messageOf(findings, "permissions"),
          /^other roles own agent, .*schema_migration.*: make .* the owner/,
        )
        assert.strictEqual(code, EXIT_CODES.attention.code)
        if (withoutTransactionMode !== undefined) return
        yield* sql.unsafe(`ALTER ROLE ${user} RESET ALL`)
        yield* sql.unsafe(`ALTER ROLE ${user} SET lock_timeout = '50ms'`)
        const pooled = yield* throughPgBouncer(Redacted.make(own.href), "transaction")
        const behind = yield* examine({ cwd, environment: { DATABASE_URL: Redacted.value(pooled) } })
        assert.match(messageOf(behind.findings, "limits"), /^lock_timeout = 50ms can end .* pooler exchanges/)
      }),
  )

  it.live("compares the totals of SQLite and of PostgreSQL with what the rows count", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolderOnDisk
      const file = { cwd, environment: {} }
      yield* tocsin(file, "migrate")
      const database = new DatabaseSync(join(cwd, "data", "tocsin.db"))
      database.exec("UPDATE system_total SET checks_ok = 2, incidents_open = 1")
      database.close()
      const { url, replica } = yield* scratchPostgres
      const server = { cwd, environment: { DATABASE_URL: Redacted.value(url) } }
      yield* tocsin(server, "migrate")
      const { sql } = yield* replica({ maxConnections: 1 })
      yield* sql.withTransaction(
        Effect.andThen(
          sql`SET LOCAL session_replication_role = replica`,
          sql`INSERT INTO agent (agent_id, registration_id, admission_state, hostname, features, observed_at,
              last_seen_at, registered_at, key_fingerprint, checks_ok, checks_warning, checks_critical, checks_unknown)
            VALUES ('a', gen_random_uuid(), 'pending', 'host', '{}', 0, 0, 0, 'fingerprint', 0, 3, 0, 0)`,
        ),
      )
      for (const [place, wrong] of [
        [file, "checks_ok is 2 instead of 0, incidents_open is 1 instead of 0"],
        [server, "agents_pending is 0 instead of 1, checks_warning is 0 instead of 3"],
      ] as const) {
        const { findings } = yield* examine(place)
        assert.include(notOk(findings), "totals: attention")
        assert.include(messageOf(findings, "totals"), `the summary is wrong: ${wrong}; `)
      }
      yield* sql`SELECT recount_system_total()`
      const mended = yield* examine(server)
      assert.notInclude(notOk(mended.findings), "totals: attention")
    }),
  )

  it.live("finds a PostgreSQL whose settings run no trigger", () =>
    Effect.gen(function* () {
      const { url, replica } = yield* scratchPostgres
      const { sql } = yield* replica({ maxConnections: 1 })
      const [row] = yield* sql<{ name: string }>`SELECT current_database() AS name`
      yield* sql.unsafe(`ALTER DATABASE ${row?.name} SET session_replication_role = replica`)
      const environment = { DATABASE_URL: Redacted.value(url) }
      const { code, findings } = yield* examine({ cwd: yield* scratchFolderOnDisk, environment })
      assert.match(messageOf(findings, "storage"), /^session_replication_role is replica, .*: reset it/)
      assert.strictEqual(code, EXIT_CODES.storage.code)
    }),
  )

  it.live("finds a newer schema on SQLite and on PostgreSQL", () =>
    Effect.gen(function* () {
      const later = "INSERT INTO schema_migration VALUES (9999, 'later', 'checksum', 0)"
      const file = { cwd: yield* scratchFolderOnDisk, environment: {} }
      mkdirSync(join(file.cwd, "data"))
      yield* tocsin(file, "migrate")
      const database = new DatabaseSync(join(file.cwd, "data", "tocsin.db"))
      database.exec(later)
      database.close()
      const { url, replica } = yield* scratchPostgres
      const server = { cwd: file.cwd, environment: { DATABASE_URL: Redacted.value(url) } }
      yield* tocsin(server, "migrate")
      const { sql } = yield* replica({ maxConnections: 1 })
      yield* sql.unsafe(later)
      for (const [place, check] of [
        [file, "storage"],
        [server, "schema"],
      ] as const) {
        const { code, findings } = yield* examine(place)
        assert.match(messageOf(findings, check), /written by a newer version of Tocsin: start that version/)
        assert.strictEqual(code, EXIT_CODES.storage.code)
      }
    }),
  )
})

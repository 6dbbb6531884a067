import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { secretCipher } from "@tocsin/adapter-crypto/AesSecretCipher"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect, Redacted } from "effect"
import { secretOf } from "../processes/secrecy.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { operate } from "../processes/api.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { feed } from "./feed.ts"
import { jsonOf, type Place, serverAt, tocsin } from "./tocsin.ts"

const [OLD, NEW] = ["0a".repeat(32), "b1".repeat(32)]
const idOf = (key: string) => secretCipher(Redacted.make(key)).keyIds[0]

const TOKEN = secretOf("header")

/** A database as an earlier version left it: header fields in clear, and what it replaced still in the file. */
const asEarlier = (file: string) => {
  const database = new DatabaseSync(file)
  database.exec("PRAGMA secure_delete = OFF")
  const probe = { http: { url: "http://127.0.0.1:9/", headers: { authorization: TOKEN } } }
  database.prepare("UPDATE watch SET probe = ?, headers = NULL").run(JSON.stringify(probe))
  database.prepare("UPDATE watch SET output = ?").run(TOKEN.repeat(2_000))
  database.exec("UPDATE watch SET output = NULL")
  database.exec("UPDATE schema_migration SET applied_at = applied_at + 1 WHERE id = 5")
  database.close()
}

describe("header fields of watches", () => {
  it.live("are encrypted, also those of an earlier version, and leave the file and its backups", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: { SERVICE_WATCH_LOOPBACK: "true" } }
      const file = join(place.cwd, "data", "tocsin.db")
      const holds = (name: string) => readFileSync(name).includes(TOKEN)
      const stored = Effect.sync(() => {
        const database = new DatabaseSync(file, { readOnly: true })
        const row = database.prepare("SELECT probe, headers FROM watch").get()
        database.close()
        return row
      })
      const server = yield* startServer(serverAt(place))
      const http = { url: "http://127.0.0.1:9/", headers: { authorization: TOKEN } }
      yield* operate(server, "POST", "/ops/v1/watches", { json: { name: "home", http } })
      assert.notInclude(JSON.stringify(yield* stored), TOKEN)
      yield* server.stop
      assert.isFalse(holds(file))

      asEarlier(file)
      assert.isTrue(holds(file))
      const said = (yield* tocsin(place, "doctor")).stdout
      assert.include(
        said,
        "header fields stand in clear in the database, of the watch home: stop servers of other versions",
      )
      assert.include(said, "tocsin.db may keep header fields of watches that an earlier version deleted")
      const again = yield* startServer(serverAt(place))
      yield* until(
        "they are encrypted",
        Effect.map(stored, (row) => row?.["headers"] !== null),
      )
      assert.notInclude(JSON.stringify(yield* stored), TOKEN)
      const { code, stdout } = yield* tocsin(place, "backup", "copy.db")
      assert.strictEqual(code, 0)
      assert.include(stdout, "its stored secrets need the key")
      assert.isFalse(holds(join(place.cwd, "copy.db")))
      yield* again.stop
      // The start left out what the earlier version had replaced.
      assert.isFalse(holds(file))
      assert.notInclude((yield* tocsin(place, "doctor")).stdout, "may keep header fields")
    }),
  )
})

describe("tocsin secrets", () => {
  it.live("are stored, listed with their use and deleted; doctor, backup and copy name their key", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const at = (keys: string): Place => ({ cwd, environment: { SERVICE_SECRETS_KEY: keys } })
      yield* tocsin(at(OLD), "migrate")
      const [url, token] = [`https://ntfy.example/${secretOf("topic")}`, secretOf("token")]
      const stored = feed(at(OLD), JSON.stringify({ url, token }), "secrets", "put", "phone")
      assert.strictEqual(stored, "phone: token, url stored; every server uses them within 5 s\n")
      const { items } = (yield* jsonOf(at(OLD), "secrets", "list")) as {
        readonly items: ReadonlyArray<object>
      }
      const shown = { name: "phone", keys: ["token", "url"], receiver: null, unreadable: false }
      assert.deepInclude(items[0], shown)
      assert.match(
        (yield* tocsin(at(NEW), "secrets", "list")).stdout,
        /^phone +token, url +unused +unreadable /m,
      )

      const [oldId, newId] = [idOf(OLD), idOf(NEW)]
      const doctor = Effect.fnUntraced(function* (keys: string) {
        const { stdout } = yield* tocsin(at(keys), "doctor", "--json")
        const { findings } = JSON.parse(stdout) as {
          readonly findings: ReadonlyArray<Record<string, string>>
        }
        return findings.flatMap(({ check, message = "" }) => (check === "secrets" ? [message] : [])).join()
      })
      assert.include(
        yield* doctor(`${OLD},${NEW}`),
        `no stored secret needs the second key of SERVICE_SECRETS_KEY (${newId})`,
      )
      assert.include(yield* doctor(`${NEW},${OLD}`), `the second key opens phone (key ${oldId}): restart`)
      assert.include(
        yield* doctor(NEW),
        `no key of this shell opens the stored secrets of phone (key ${oldId})`,
      )

      const backup = yield* tocsin(at(OLD), "backup", "backup.db")
      assert.include(backup.stdout, `its stored secrets need the key ${oldId} (in SERVICE_SECRETS_KEY)`)
      const copied = yield* jsonOf(at(NEW), "copy", "--to", "sqlite:copy.db")
      assert.deepInclude(copied, { secrets_keys: [oldId] })

      // Another server's policy counts where a file decides, too.
      const policy = "receivers: { ntfy: { kind: messenger, type: ntfy, secrets: phone } }\n"
      yield* Effect.sync(() => {
        writeFileSync(join(cwd, "stored.yaml"), policy)
        writeFileSync(join(cwd, "none.yaml"), "{}\n")
      })
      assert.strictEqual((yield* tocsin(at(OLD), "policy", "apply", "stored.yaml", "--confirm")).code, 0)
      const beside = { cwd, environment: { ...at(OLD).environment, SERVICE_POLICY_FILE: "none.yaml" } }
      assert.match((yield* tocsin(beside, "secrets", "list")).stdout, /^phone +token, url +ntfy /m)
      const kept = yield* tocsin(beside, "secrets", "delete", "phone", "--yes")
      assert.include(kept.stderr, "the receiver ntfy of the stored policy names these secrets")
      yield* Effect.sync(() => writeFileSync(join(cwd, "stored.yaml"), "{}\n"))
      assert.strictEqual((yield* tocsin(at(OLD), "policy", "apply", "stored.yaml", "--confirm")).code, 0)

      const remove = tocsin(at(OLD), "secrets", "delete", "phone", "--yes")
      assert.deepInclude(yield* remove, { code: 0, stdout: "phone: deleted\n" })
      assert.strictEqual((yield* remove).code, EXIT_CODES.not_found.code)
      const asked = yield* tocsin(at(OLD), "secrets", "put", "phone", "url")
      assert.include(asked.stderr, "there is no terminal to ask on")
    }),
  )
})

import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import process from "node:process"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect } from "effect"
import { SERVER } from "../processes/program.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { secretOf } from "../processes/secrecy.ts"
import { type Place, places, tocsin, tocsinAlone } from "./tocsin.ts"

const nowhere: Effect.Effect<Place, never, Effect.Services<typeof scratchFolder>> = Effect.map(
  scratchFolder,
  (cwd) => ({ cwd, environment: {} }),
)

/** The answer to a mistake: its exit code, nothing on standard output, and one message. */
const refusedBy = (run: typeof tocsin) =>
  Effect.fnUntraced(function* (place: Place, line: string) {
    const { code, stdout, stderr } = yield* run(place, ...line.split(" "))
    assert.strictEqual(stdout, "")
    return { code, stderr }
  })
const refused = refusedBy(tocsinAlone)

describe.concurrent("exit codes", () => {
  it.live.each<readonly [line: string, message: string]>([
    ["agents accept", "name at least one agent, or use --all"],
    ["agents accept web-1 --all", "name agents or use --all, but not both"],
    ["agents remove web/1", "is not a valid agent ID"],
    ["incidents --since yesterday", "since must be"],
    ["numbers a/b --since yesterday", "since must be an RFC 3339 date-time"],
    ["policy try policy.yaml --since 2999-01-01", "since must be in the past"],
    ["audit --since 2027-02-30", "must be an RFC 3339 date-time"],
    ["agents list --csv --json", "--csv and --json exclude each other"],
    ["numbers a/b --csv --json", "--csv and --json exclude each other"],
    ["agents list --limit 0", "Invalid value for flag --limit"],
    [
      "incidents show 17",
      'Invalid value for argument <INCIDENT>: "17". Expected a lower-case UUID version 7',
    ],
    [`summary postgres://${secretOf("user")}:${secretOf("password")}@host/db`, "postgres://…@host/db"],
  ])("2: tocsin %s", ([line, message]) =>
    Effect.gen(function* () {
      const { code, stderr } = yield* refusedBy(tocsin)(yield* nowhere, line)
      assert.strictEqual(code, EXIT_CODES.usage.code)
      assert.include(stderr, message)
    }),
  )

  it.live.each<readonly [line: string, same: string]>([
    ["help", "--help"],
    ["help policy check", "policy check --help"],
  ])("0: tocsin %s is tocsin %s", ([line, same]) =>
    Effect.gen(function* () {
      const place = yield* nowhere
      const asked = yield* tocsinAlone(place, ...line.split(" "))
      assert.deepStrictEqual(asked, yield* tocsinAlone(place, ...same.split(" ")))
      assert.strictEqual(asked.code, EXIT_CODES.ok.code)
      assert.include(asked.stdout, "USAGE")
    }),
  )

  it.live("1: the result of a probe that is not ok; 2: a target that no watch may have", () =>
    Effect.gen(function* () {
      const { cwd } = yield* nowhere
      yield* tocsin({ cwd, environment: {} }, "migrate")
      const line = ["watches", "try", "tcp://127.0.0.1:1"]
      const probed = yield* tocsinAlone({ cwd, environment: { SERVICE_WATCH_LOOPBACK: "true" } }, ...line)
      assert.strictEqual(probed.code, EXIT_CODES.failed.code)
      assert.include(probed.stdout, "TCP CRITICAL")
      assert.include(probed.stderr, "the probe of tcp://127.0.0.1:1 is critical")
      const { code, stderr } = yield* refused({ cwd, environment: {} }, line.join(" "))
      assert.strictEqual(code, EXIT_CODES.usage.code)
      assert.include(stderr, "start the server with SERVICE_WATCH_LOOPBACK=true to allow it")
    }),
  )

  it.live("2: every bad setting in one message; only servers need a token", () =>
    Effect.gen(function* () {
      const { cwd } = yield* nowhere
      const environment = {
        SERVICE_PORT: "eighty",
        DATABASE_URL: "postgres://127.0.0.1:1/db",
        SERVICE_LOG_LEVEL: "loud",
      }
      assert.deepStrictEqual(yield* refused({ cwd, environment }, "summary"), {
        code: EXIT_CODES.usage.code,
        stderr:
          "tocsin: these settings are not valid (see tocsin serve --help):\n" +
          '  SERVICE_PORT is set to "eighty", but must be a whole number from 0 to 65535\n' +
          '  SERVICE_LOG_LEVEL is set to "loud", but must be trace, debug, info, warn or error\n',
      })
    }),
  )

  it.live("4: there is no storage, and none is created", () =>
    Effect.gen(function* () {
      const place = yield* nowhere
      assert.deepStrictEqual(yield* refused(place, "agents list"), {
        code: EXIT_CODES.storage.code,
        stderr: `tocsin: there is no file ${join(place.cwd, "data/tocsin.db")}: go to the server's folder, correct SERVICE_DATA_DIR, --from or the module that names it, or create it with tocsin migrate\n`,
      })
      const environment = { DATABASE_URL: `postgres://tocsin:${secretOf("password")}@127.0.0.1:1/tocsin` }
      assert.deepStrictEqual(yield* refused({ ...place, environment }, "agents list"), {
        code: EXIT_CODES.storage.code,
        stderr:
          "tocsin: PostgreSQL is unreachable: check that it is running, and check the host and port in the database URL\n",
      })
    }),
  )

  it.live.each(places)("3: an unknown name on $name; 0: migrate creates the schema", ({ make }) =>
    Effect.gen(function* () {
      const place = yield* make
      const made = yield* tocsinAlone(place, "migrate", "--json")
      assert.deepStrictEqual([made.code, made.stderr], [0, ""])
      assert.match(made.stdout, /^\{"from":0,"to":[1-9]\d*\}\n$/)
      assert.match((yield* tocsin(place, "migrate")).stdout, /: nothing to do\n$/)
      const { code, stderr } = yield* refused(place, "incidents show 01900000-0000-7000-8000-000000000001")
      assert.strictEqual(code, EXIT_CODES.not_found.code)
      assert.match(stderr, /list incidents with tocsin incidents\n$/)
    }),
  )
})

/** A storage with more agents than the buffer of a pipe holds. */
const populated = Effect.fnUntraced(function* () {
  const place = yield* nowhere
  yield* tocsin(place, "migrate")
  const database = new DatabaseSync(join(place.cwd, "data", "tocsin.db"))
  database.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
    INSERT INTO agent (agent_id, registration_id, admission_state, observed_at, last_seen_at, registered_at,
      checks_ok, checks_warning, checks_critical, checks_unknown, key_fingerprint, hostname, features)
    SELECT printf('web-%05d', i), printf('01900000-0000-7000-8000-%012d', i), 'accepted', 0, i, 0, 0, 0, 0, 0,
      '0123456789abcdef', printf('host-%05d.example.org', 3000 - i), '{"push":true,"metrics":false}' FROM n`)
  database.close()
  return place
})

describe("a long list", () => {
  it.live("is printed in order to its end, and its reader may close the pipe", () =>
    Effect.gen(function* () {
      const place = yield* populated()
      const { stdout } = yield* tocsinAlone(place, "agents", "list", "--all", "--json")
      const { items } = JSON.parse(stdout) as { items: Array<{ agent_id: string }> }
      assert.deepStrictEqual(
        [items.length, items[0]?.agent_id, items.at(-1)?.agent_id],
        [3000, "web-00001", "web-03000"],
      )
      const sorted = yield* tocsin(place, "agents", "list", "--sort", "hostname", "--limit", "1", "--json")
      const { items: first } = JSON.parse(sorted.stdout) as { items: Array<{ agent_id: string }> }
      assert.deepStrictEqual(
        first.map(({ agent_id }) => agent_id),
        ["web-03000"],
      )

      const left = yield* Effect.promise(async () => {
        const child = spawn(process.execPath, [SERVER, "agents", "list", "--all"], {
          cwd: place.cwd,
          env: { PATH: process.env["PATH"] },
          stdio: ["ignore", "pipe", "pipe"],
        })
        let stderr = ""
        child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
        child.stdout.once("data", () => child.stdout.destroy())
        const [code] = await once(child, "close")
        return { code, stderr }
      })
      assert.deepStrictEqual(left, { code: 0, stderr: "" })
    }),
  )
})

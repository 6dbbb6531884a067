import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect, Redacted } from "effect"
import { eventOf, push } from "../processes/Agent.ts"
import { call, historyOf } from "../processes/api.ts"
import { fillEmptyTables } from "../processes/fillEmptyTables.ts"
import { JSON_STORE } from "../processes/jsonStore.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import { launch, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { populateTables, shownBy } from "./populateTables.ts"
import { jsonOf, type Place, serverAt, tocsin } from "./tocsin.ts"

interface Copied {
  readonly tables: ReadonlyArray<{ readonly table: string; readonly rows: number; readonly sha256: string }>
}

const copied = (place: Place, ...args: ReadonlyArray<string>) =>
  Effect.map(jsonOf(place, "copy", ...args), (document) => (document as Copied).tables)

const onFile = Effect.map(scratchFolder, (cwd): Place => ({ cwd, environment: {} }))

/**
 * A scratch database, in the variable that `--to env:TARGET` reads; its password stays off the
 * command line.
 */
const emptyPostgres = Effect.map(scratchPostgres, ({ url, replica }) => ({
  replica,
  url: Redacted.value(url),
  environment: { TARGET: Redacted.value(url) },
}))

describe.concurrent("tocsin copy", () => {
  it.live("copies everything from SQLite to PostgreSQL and back, and servers continue from there", () =>
    Effect.gen(function* () {
      const source = yield* onFile
      // A closed integration: the service sees the agent of an open one again and again.
      yield* jsonOf(source, "migrate")
      yield* jsonOf(source, "integrations", "add", "cron", "--kind", "ping")
      writeFileSync(join(source.cwd, "policy.yaml"), "{}\n")
      yield* jsonOf(source, "policy", "apply", "policy.yaml")
      yield* jsonOf(source, "agents", "block", "cron", "--yes")
      // One that is paused, of an agent that is closed, too.
      yield* jsonOf(source, "watch", "dns:home.example", "--name", "home")
      yield* jsonOf(source, "watches", "pause", "home")
      yield* jsonOf(source, "agents", "block", "watches", "--yes")
      const { shown, agent, lastEvent } = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* startServer(serverAt(source))
          const { first } = yield* populateTables(server)
          const last = eventOf({ check_id: "disk", status: "critical" })
          yield* Effect.orDie(push(server, first, [last]))
          const now = yield* shownBy(server)
          yield* server.stop
          return { shown: now, agent: first, lastEvent: last }
        }),
      )
      yield* jsonOf(source, "enrolments", "create")
      yield* jsonOf(source, "operators", "add", "ann", "--role", "read")
      fillEmptyTables(join(source.cwd, "data/tocsin.db"))
      const postgres = yield* emptyPostgres
      const there = yield* copied({ ...source, environment: postgres.environment }, "--to", "env:TARGET")
      for (const { table, rows } of there) assert.isAbove(rows, 0, table)

      const back = yield* onFile
      mkdirSync(join(back.cwd, "data"))
      const toFile = ["--from", "env:TARGET", "--to", "sqlite:data/tocsin.db"]
      assert.deepStrictEqual(yield* copied({ ...back, environment: postgres.environment }, ...toFile), there)
      const fewer = yield* copied(back, "--to", "sqlite:fewer.db", "--without", "numbers")
      const others = there.filter(({ table }) => !table.startsWith("number_"))
      assert.deepStrictEqual(fewer, others)
      yield* jsonOf(back, "backup", "fewer-backup.db", "--without", "numbers")
      const backup = new DatabaseSync(join(back.cwd, "fewer-backup.db"))
      assert.strictEqual(backup.prepare("SELECT count(*) AS n FROM number_series").get()?.["n"], 0)
      backup.close()

      for (const place of [{ cwd: source.cwd, environment: { DATABASE_URL: postgres.url } }, back]) {
        const server = yield* startServer(serverAt(place))
        assert.deepStrictEqual(yield* shownBy(server), shown)
        const again = yield* Effect.orDie(push(server, agent, [lastEvent]))
        assert.strictEqual(again.text, '{"accepted":0,"deduplicated":1}')
        const next = yield* Effect.orDie(push(server, agent, [eventOf({ check_id: "disk", status: "ok" })]))
        assert.strictEqual(next.text, '{"accepted":1,"deduplicated":0}')
        const [latest] = yield* historyOf(server)
        assert.deepStrictEqual([latest?.check_id, latest?.status], ["disk", "ok"])
        yield* server.stop
      }
    }),
  )

  it.live("refuses a target that is not empty or in use", () =>
    Effect.gen(function* () {
      const source = yield* onFile
      yield* tocsin(source, "migrate")
      const { url, environment } = yield* emptyPostgres
      const from = { ...source, environment }
      const target = { cwd: source.cwd, environment: { DATABASE_URL: url } }
      const server = yield* startServer(serverAt(target))
      const inUse = yield* tocsin(from, "copy", "--to", "env:TARGET")
      assert.deepStrictEqual([inUse.code, inUse.stdout], [EXIT_CODES.refused.code, ""])
      assert.match(inUse.stderr, /^tocsin: a server is using the database: stop it/)
      yield* populateTables(server)
      yield* server.stop
      const marked = yield* tocsin(from, "copy", "--to", "env:TARGET")
      assert.strictEqual(marked.code, EXIT_CODES.refused.code)
      const file = yield* tocsin(source, "copy", "--to", "sqlite:data/tocsin.db")
      assert.strictEqual(file.code, EXIT_CODES.refused.code)
      assert.match(file.stderr, /data\/tocsin.db already exists/)
      const nobody = yield* Effect.result(call(server, "GET", "/api/v1/health"))
      assert.strictEqual(nobody._tag, "Failure")
    }),
  )

  it.live("does not copy the service heartbeat, and reports when a server used the source", () =>
    Effect.gen(function* () {
      const source = yield* onFile
      const server = yield* startServer(serverAt(source))
      const live = yield* tocsin(source, "copy", "--to", "sqlite:live.db")
      assert.strictEqual(live.code, EXIT_CODES.attention.code)
      assert.match(
        live.stderr,
        /^tocsin: a server is writing to SQLite in data\/tocsin.db, and the copy lacks/,
      )
      yield* server.stop

      const { environment, url } = yield* emptyPostgres
      const from = { ...source, environment }
      const target = { cwd: source.cwd, environment: { DATABASE_URL: url } }
      // No server has used it, so a second copy is possible.
      yield* copied(from, "--to", "env:TARGET")
      yield* copied(from, "--to", "env:TARGET")
      const { stdout } = yield* tocsin(target, "doctor")
      assert.match(stdout, /server +ok +none has run on it yet/)
    }),
  )

  it.live("copies into the storage of a module, and from it, also beside DATABASE_URL", () =>
    Effect.gen(function* () {
      const source = yield* onFile
      yield* jsonOf(source, "migrate")
      yield* jsonOf(source, "operators", "add", "ann", "--role", "read")
      writeFileSync(join(source.cwd, "store.mjs"), JSON_STORE)
      const place = { ...source, environment: { SERVICE_EXTENSIONS: join(source.cwd, "store.mjs") } }
      const there = yield* copied(place, "--to", "extension")
      assert.strictEqual(there.find(({ table }) => table === "operator")?.rows, 1)
      const again = yield* tocsin(place, "copy", "--to", "extension")
      assert.deepStrictEqual([again.code, again.stdout], [EXIT_CODES.refused.code, ""])
      assert.include(again.stderr, `a JSON file of ${join(source.cwd, "store.mjs")} already contains data (`)
      const beside = { ...place, environment: { ...place.environment, DATABASE_URL: "memory:" } }
      const back = ["--from", "extension", "--to", "sqlite:back.db"]
      assert.deepStrictEqual(yield* copied(beside, ...back), there)
      const served = yield* tocsin(beside, "copy", "--from", "extension", "--to", "sqlite:./tocsin.db")
      assert.include(served.stdout, ": start the server there with SERVICE_DATA_DIR=. tocsin, without")
      const renamed = yield* tocsin(beside, "copy", "--from", "extension", "--to", "sqlite:c.db")
      assert.include(renamed.stdout, ": move it into a folder as tocsin.db, then start the server there with")
      const none = yield* tocsin(place, "copy", "--to", "sqlite:another.db")
      assert.strictEqual(none.code, EXIT_CODES.usage.code)
      assert.include(none.stderr, "name the source with --from")
    }),
  )

  it.live("leaves nothing behind when interrupted, and can be repeated", () =>
    Effect.gen(function* () {
      const source = yield* onFile
      yield* tocsin(source, "migrate")
      fill(join(source.cwd, "data", "tocsin.db"), 100_000)
      const { environment, replica } = yield* emptyPostgres
      const from = { ...source, environment }
      const { sql } = yield* replica({ maxConnections: 1, applicationName: "test" })
      const isHeld = Effect.map(Effect.orDie(sql.unsafe(WAITING)), (rows) => rows.length > 0)

      yield* Effect.forEach(HOLD_WRITES, (statement) => sql.unsafe(statement))
      yield* breakOff(from, ["--to", "env:TARGET"], isHeld)
      yield* Effect.forEach(RELEASE_WRITES, (statement) => sql.unsafe(statement))
      const [found] = yield* sql<{ absent: boolean }>`SELECT to_regclass('agent') IS NULL AS absent`
      assert.deepStrictEqual(found, { absent: true })
      const tables = yield* copied(from, "--to", "env:TARGET")
      assert.strictEqual(tables.find(({ table }) => table === "check_event")?.rows, 100_000)

      const unfinished = join(source.cwd, "next.db.copying")
      yield* breakOff(
        source,
        ["--to", "sqlite:next.db"],
        Effect.sync(() => existsSync(unfinished)),
      )
      assert.deepStrictEqual([existsSync(unfinished), existsSync(join(source.cwd, "next.db"))], [true, false])
      assert.deepStrictEqual(yield* copied(source, "--to", "sqlite:next.db"), tables)
      assert.deepStrictEqual(readdirSync(source.cwd).toSorted(), ["data", "next.db"])
    }),
  )
})

/** A session of the scratch database that waits for a lock. */
const WAITING = `SELECT 1 FROM pg_locks WHERE NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** Lets each process that creates Tocsin's tables wait at its first row of the history, for a lock that this session has. */
const HOLD_WRITES = [
  `CREATE FUNCTION hold_write() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(72);
    RETURN NULL;
  END $$`,
  `CREATE FUNCTION hold_writes() RETURNS event_trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'public.check_event') THEN
      CREATE TRIGGER hold BEFORE INSERT ON check_event EXECUTE FUNCTION hold_write();
    END IF;
  END $$`,
  "CREATE EVENT TRIGGER hold_writes ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION hold_writes()",
  "SELECT pg_advisory_lock(72)",
]
const RELEASE_WRITES = [
  "DROP EVENT TRIGGER hold_writes",
  "DROP FUNCTION hold_writes, hold_write",
  "SELECT pg_advisory_unlock(72)",
]

/** Starts a copy, and kills it in the middle. */
const breakOff = (place: Place, args: ReadonlyArray<string>, isUnderWay: Effect.Effect<boolean>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { ended, kill, output } = yield* launch({ ...place, args: ["copy", ...args] })
      const seen = until("the copy is under way", isUnderWay)
      const end = Effect.map(ended, ({ code }) => `the copy ended with ${code} before: ${output.stderr}`)
      assert.strictEqual(yield* Effect.raceFirst(seen, end), true)
      assert.deepStrictEqual(yield* kill, { code: null, signal: "SIGKILL" })
    }),
  )

/** Gives a database many history rows of one agent, which take a while to copy. */
const fill = (file: string, rows: number): void => {
  const database = new DatabaseSync(file)
  database.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO check_event (agent_id, registration_id, check_id, event_id, observed_at, received_at, status,
      exit_code, duration_ms, output_truncated, notifications_enabled, output)
    SELECT 'web-1', '01900000-0000-7000-8000-000000000000', 'disk', printf('01900000-0000-7000-8000-%012d', i), i, i,
      'ok', 0, 1, 0, 1, printf('%0100d', i) FROM n`)
  database.close()
}

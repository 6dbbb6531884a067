import { assert, describe, it, layer } from "@effect/vitest"
import { type Replica, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Duration, Effect, Fiber, Layer, Logger, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { readdirSync } from "node:fs"
import type { Migration } from "@tocsin/core/kernel/ports/Migration"
import { scriptOf } from "../../src/client/PgPoolOptions.ts"
import { checksumOf, migrate, migrations } from "../../src/migrations/migrate.ts"
import { eventually } from "../client/eventually.ts"
import { openStorage } from "../openStorage.ts"
import { waitingForLocks } from "../waitingForLocks.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

const next: Migration = {
  id: migrations.length + 1,
  name: "next",
  compatibility: "compatible",
  sql: "CREATE TABLE next (id integer)",
}
const extended = [...migrations, next]

const briefly = { attempt: Duration.millis(100), rest: Duration.millis(100) }

const applied = ({ sql }: Replica) =>
  sql<{ id: number; checksum: string; applied_at: bigint }>`
    SELECT id, checksum, applied_at FROM schema_migration ORDER BY id
  `

const tables = ({ sql }: Replica) =>
  Effect.map(
    sql<{
      name: string
    }>`SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    (rows) => rows.map((row) => row.name),
  )

/** An empty database of its own for one test. */
const emptyDatabase = Effect.flatMap(Layer.build(Layer.fresh(ScratchPostgres.layer)), (services) =>
  Effect.provide(
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      return { scratch, observer: yield* scratch.replica(), url: scratch.url }
    }),
    services,
  ),
)

/** Settings of all connections that are opened from now on. */
const byDefault = ({ sql }: Replica, settings: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const [database] = yield* sql<{ name: string }>`SELECT quote_ident(current_database()) AS name`
    for (const [name, value] of Object.entries(settings)) {
      yield* sql.unsafe(`ALTER DATABASE ${database?.name} SET ${name} = '${value}'`)
    }
  })

const changedPath = (url: Redacted.Redacted, database: string): Redacted.Redacted =>
  Redacted.make(Object.assign(new URL(Redacted.value(url)), { pathname: database }).href)

layer(Layer.empty)("migrating a database", (it) => {
  const test = testsFrom(emptyDatabase, it.effect)

  test("waits until the servers have stopped that it breaks, and refuses where they go on", function* ({
    observer,
  }) {
    const { sql } = observer
    yield* migrate(sql)
    yield* sql`
      INSERT INTO replica (id, version, policy_hash, receivers, probes, started_at, seen_at)
      SELECT version, version, '', '[]', false, 0, (extract(epoch FROM now() - age::interval) * 1000000)::int8
      FROM (VALUES ('0.3.0', '5 s'), ('0.2.0', '65 s')) AS server (version, age)
    `
    const breaking = { ...next, compatibility: "breaking" as const }
    const options = { known: [...migrations, breaking], rest: Duration.millis(20) }
    const error = yield* Effect.flip(migrate(sql, { ...options, stopWithin: Duration.millis(50) }))
    assert.deepStrictEqual(
      [error.reason, error.message],
      [
        "in_use",
        "servers of version 0.3.0 run on the database, and would fail once it is migrated: stop them, then start again",
      ],
    )
    assert.lengthOf(yield* applied(observer), migrations.length)
    const waiting = yield* Effect.forkChild(migrate(sql, options))
    yield* sql`UPDATE replica SET ended_at = seen_at`
    yield* Fiber.join(waiting)
    assert.lengthOf(yield* applied(observer), migrations.length + 1)
  })

  for (const isolation of ["read committed", "repeatable read", "serializable"]) {
    const settings = { default_transaction_isolation: isolation }

    test(`runs each migration once, however many processes start at the same moment: ${isolation}`, function* ({
      observer,
      url,
    }) {
      yield* byDefault(observer, settings)
      yield* TestClock.setTime(1_000)
      yield* Effect.all(
        Array.from({ length: 5 }, () => openStorage({ url, maxConnections: 2 })),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(
        yield* applied(observer),
        migrations.map((migration) => ({
          id: migration.id,
          checksum: checksumOf(migration),
          applied_at: 1_000_000n,
        })),
      )
    })

    test(`finds nothing left to do after it waited for another process: ${isolation}`, function* (opened) {
      const { observer, scratch } = opened
      const holder = yield* scratch.replica()
      const subject = yield* scratch.replica({ maxConnections: 1, settings })
      const waiting = yield* holder.sql.withTransaction(
        Effect.gen(function* () {
          yield* migrate(holder.sql)
          const fiber = yield* Effect.forkChild(migrate(subject.sql))
          yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
          return fiber
        }),
      )
      yield* Fiber.join(waiting)
      assert.lengthOf(yield* applied(observer), migrations.length)
    })
  }

  for (const { compatibility, level, says } of [
    { compatibility: "compatible", level: "Info", says: "servers of the previous version may keep running" },
    { compatibility: "breaking", level: "Warn", says: "stop the other servers first" },
  ] as const) {
    test(`says what a ${compatibility} migration asks of other servers, and nothing of an empty one`, function* ({
      observer,
    }) {
      const lines: Array<readonly [level: string, message: string]> = []
      const logger = Logger.make<unknown, void>(
        ({ logLevel, message }) => void lines.push([logLevel, String(message)]),
      )
      const migrateTo = (known: ReadonlyArray<Migration>) =>
        Effect.provide(migrate(observer.sql, { known }), Logger.layer([logger]))
      yield* migrateTo(migrations)
      yield* migrateTo(migrations)
      assert.deepStrictEqual(lines, [])
      yield* migrateTo([...migrations, { ...next, compatibility }])
      assert.deepStrictEqual(
        lines.map(([severity]) => severity),
        [level],
      )
      assert.include(lines[0]?.[1], says)
    })
  }

  test("lets requests through between its attempts while another session reads, as pg_dump does", function* ({
    observer,
    scratch,
  }) {
    yield* migrate(observer.sql)
    const { sql } = yield* scratch.replica({ maxConnections: 1 })
    const subject = yield* scratch.replica({ maxConnections: 1 })
    const changing: Migration = { ...next, sql: "ALTER TABLE outbox ADD more int" }
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
    const migrating = yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SELECT 1 FROM outbox`
        const options = { known: [...migrations, changing], ...briefly }
        const fiber = yield* Effect.forkChild(
          Effect.provide(migrate(subject.sql, options), Logger.layer([logger])),
        )
        yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
        yield* observer.sql`UPDATE agent SET hostname = ''`
        assert.deepStrictEqual(yield* observer.sql`SELECT 1 FROM outbox`, [])
        yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
        assert.lengthOf(yield* applied(observer), migrations.length)
        return fiber
      }),
    )
    yield* Fiber.join(migrating)
    assert.lengthOf(yield* applied(observer), extended.length)
    assert.deepStrictEqual(
      lines.filter((line) => line.includes("pg_dump")),
      [lines.at(-1)],
    )
  })

  test("names sessions that keep the tables for too long, and leaves everything as it was", function* ({
    observer,
    scratch,
  }) {
    yield* migrate(observer.sql)
    const { sql } = yield* scratch.replica({ maxConnections: 1 })
    const brief = { known: extended, patience: Duration.zero, ...briefly }
    const error = yield* sql.withTransaction(
      Effect.andThen(sql`SELECT 1 FROM outbox`, Effect.flip(migrate(observer.sql, brief))),
    )
    assert.strictEqual(error.reason, "in_use")
    assert.include(error.message, "pg_dump")
    assert.lengthOf(yield* applied(observer), migrations.length)
  })

  test("does not wait for tables of another schema, or of an owner whose tables it may not lock", function* ({
    observer,
    scratch,
  }) {
    const owner = `tocsin_test_${randomUUID().replaceAll("-", "")}`
    yield* Effect.acquireRelease(observer.sql.unsafe(`CREATE ROLE ${owner}`), () =>
      Effect.orDie(observer.sql.unsafe(scriptOf(`DROP OWNED BY ${owner}; DROP ROLE ${owner}`))),
    )
    yield* observer.sql.unsafe(`GRANT CREATE ON SCHEMA public TO ${owner}`)
    const subject = yield* scratch.replica({ maxConnections: 1, settings: { role: owner } })
    yield* migrate(subject.sql)
    yield* observer.sql.unsafe(
      scriptOf(`CREATE SCHEMA other AUTHORIZATION ${owner}; CREATE TABLE other.outbox (); CREATE TABLE theirs ();
          ALTER TABLE other.outbox OWNER TO ${owner}`),
    )
    yield* observer.sql.withTransaction(
      Effect.andThen(
        observer.sql.unsafe("LOCK TABLE other.outbox, theirs"),
        migrate(subject.sql, { known: extended, patience: Duration.zero, ...briefly }),
      ),
    )
    assert.lengthOf(yield* applied(observer), extended.length)
  })

  test("names tables of another owner and the remedy, and leaves everything as it was", function* (opened) {
    const { observer, scratch } = opened
    yield* migrate(observer.sql)
    const user = `tocsin_test_${randomUUID().replaceAll("-", "")}`
    yield* Effect.acquireRelease(
      observer.sql.unsafe(`CREATE ROLE ${user} IN ROLE pg_read_all_data, pg_write_all_data`),
      () => Effect.orDie(observer.sql.unsafe(scriptOf(`DROP OWNED BY ${user}; DROP ROLE ${user}`))),
    )
    yield* observer.sql.unsafe(`GRANT CREATE ON SCHEMA public TO ${user}`)
    const subject = yield* scratch.replica({ maxConnections: 1, settings: { role: user } })
    yield* migrate(subject.sql)
    const start = migrate(subject.sql, { known: extended, ...briefly })
    const error = yield* Effect.flip(start)
    assert.match(error.message, /^other roles own agent, .*schema_migration.*: make .* the owner/)
    assert.lengthOf(yield* applied(observer), migrations.length)
    for (const name of yield* tables(observer)) {
      yield* observer.sql.unsafe(`ALTER TABLE ${name} OWNER TO ${user}`)
    }
    yield* start
    assert.lengthOf(yield* applied(observer), extended.length)
  })

  test("has no time limit of the server's settings", function* ({ observer, scratch }) {
    yield* byDefault(observer, { statement_timeout: "1h", idle_in_transaction_session_timeout: "1h" })
    const seen = `SELECT current_setting('statement_timeout') || current_setting('idle_in_transaction_session_timeout')`
    const subject = yield* scratch.replica()
    yield* migrate(subject.sql, {
      known: [...migrations, { ...next, sql: `CREATE TABLE next AS ${seen} AS limits` }],
    })
    assert.deepStrictEqual(yield* observer.sql`SELECT limits FROM next`, [{ limits: "00" }])
  })

  test("starts over where a writer that was under way made it the victim of a deadlock", function* (opened) {
    const { observer, scratch } = opened
    yield* migrate(observer.sql)
    // The one that waits for longest before it looks for a deadlock is no victim of it.
    const holder = yield* scratch.replica({ maxConnections: 1, settings: { deadlock_timeout: "10min" } })
    const subject = yield* scratch.replica({ maxConnections: 1, settings: { deadlock_timeout: "3s" } })
    const { sql } = holder
    const migrating = yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`UPDATE outbox SET attempts = 0`
        const patient = { known: extended, attempt: Duration.minutes(1), rest: Duration.zero }
        const fiber = yield* Effect.forkChild(migrate(subject.sql, patient))
        yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
        yield* sql`UPDATE agent SET hostname = ''`
        return fiber
      }),
    )
    yield* Fiber.join(migrating)
    assert.lengthOf(yield* applied(observer), extended.length)
  })

  test("adds what is missing, and keeps what is there", function* ({ observer }) {
    yield* migrate(observer.sql)
    yield* observer.sql`INSERT INTO established VALUES ('pepper_check', 'kept')`
    yield* migrate(observer.sql, { known: extended })
    assert.deepStrictEqual(
      (yield* applied(observer)).map((row) => row.id),
      extended.map((migration) => migration.id),
    )
    assert.include(yield* tables(observer), "next")
    assert.deepStrictEqual(yield* observer.sql`SELECT value FROM established`, [{ value: "kept" }])
  })

  test("refuses a database that is newer than the code, and leaves it alone", function* ({ observer, url }) {
    yield* migrate(observer.sql, { known: extended })
    const error = yield* Effect.flip(openStorage({ url }))
    assert.strictEqual(error.reason, "newer")
    assert.lengthOf(yield* applied(observer), extended.length)
  })

  test("refuses a database that went through another form of a migration", function* ({ observer }) {
    yield* migrate(observer.sql, { known: extended })
    const edited = [...migrations, { ...next, sql: `${next.sql};` }]
    const error = yield* Effect.flip(migrate(observer.sql, { known: edited }))
    assert.strictEqual(error.reason, "other")
    assert.include(error.message, `${next.id} (next)`)
  })

  test("leaves nothing of a migration that fails, nor of those before it", function* ({ observer }) {
    const failing = { ...next, sql: "CREATE TABLE half (id integer); SELECT 1 / 0" }
    const error = yield* Effect.flip(migrate(observer.sql, { known: [...migrations, failing] }))
    assert.strictEqual(error.reason, "other")
    assert.deepStrictEqual(yield* tables(observer), [])
    yield* migrate(observer.sql)
  })

  test("refuses a database with tables of another program", function* ({ observer, url }) {
    yield* observer.sql`CREATE TABLE incident (theirs text)`
    const error = yield* Effect.flip(openStorage({ url }))
    assert.strictEqual(error.reason, "other")
    assert.include(error.message, "another program")
    assert.deepStrictEqual(yield* tables(observer), ["incident"])
  })

  test("refuses a database that cannot hold all text", function* ({ observer }) {
    const name = "tocsin_test_latin1"
    yield* Effect.acquireRelease(
      observer.sql.unsafe(
        `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'`,
      ),
      () => Effect.orDie(observer.sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)),
    )
    const { scratch } = yield* emptyDatabase
    const latin1 = yield* scratch.replica({ url: changedPath(scratch.url, name) })
    const error = yield* Effect.flip(migrate(latin1.sql))
    assert.strictEqual(error.reason, "other")
    assert.include(error.message, "UTF8")
  })

  test("gives up in time when another process goes on migrating", function* ({ observer, scratch }) {
    const holder = yield* scratch.replica()
    const error = yield* holder.sql.withTransaction(
      Effect.andThen(
        migrate(holder.sql),
        Effect.flip(migrate(observer.sql, { patience: Duration.millis(200) })),
      ),
    )
    assert.strictEqual(error.reason, "in_use")
    yield* migrate(observer.sql, { patience: Duration.millis(200) })
  })
})

describe("migrations", () => {
  it("are numbered without gaps, each in a file of its number and name", () => {
    const folder = readdirSync(new URL("../../src/migrations", import.meta.url)).toSorted()
    const files = folder.filter((file) => /^\d/.test(file))
    const names = migrations.map(({ id, name }) => `${String(id).padStart(4, "0")}_${name}.ts`)
    assert.deepStrictEqual(files, names)
    assert.deepStrictEqual(
      migrations.map(({ id }) => id),
      migrations.map((_, index) => index + 1),
    )
  })
})

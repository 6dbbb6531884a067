import { assert, layer } from "@effect/vitest"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
import { faultyNetwork } from "@tocsin/test/postgres/faultyNetwork"
import { type Replica, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { agentRecord } from "@tocsin/testing/records"
import { purge } from "@tocsin/testing/expireAll"
import { Effect, Fiber, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { inspect } from "node:util"
import { scriptOf } from "../src/client/PgPoolOptions.ts"
import { eventually } from "./client/eventually.ts"
import { openStorage } from "./openStorage.ts"
import { waitingForLocks } from "./waitingForLocks.ts"
import { transact } from "@tocsin/testing/transact"
import { testsFrom } from "@tocsin/testing/testsFrom"

const { agent_id } = agentRecord("a")

/** Writes the agent `a`, over the one that is there. */
const write: Command<void> = function* (unit) {
  yield { agents: [agent_id] }
  unit.putAgent(agentRecord("a", { checks_ok: (unit.agents.get(agent_id)?.checks_ok ?? 0) + 1 }))
}

/** An error as its reason, once it is certain that nothing in it tells the URL or its password. */
const reasonOf = (error: StorageError, url: Redacted.Redacted): string => {
  const { password } = new URL(Redacted.value(url))
  const shown = `${error.message} ${inspect(error, { depth: 20 })} ${JSON.stringify(error)}`
  assert.notInclude(shown, password)
  assert.notInclude(shown, Redacted.value(url))
  assert.notMatch(error.message, /\n/)
  return error.reason
}

const setUp = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const storage = yield* openStorage({ url: scratch.url })
  const admin = yield* scratch.replica({ maxConnections: 1 })
  yield* transact(storage, write)
  const [database] = yield* admin.sql<{ name: string }>`SELECT current_database() AS name`
  return { admin, scratch, storage, database: database?.name ?? "", url: scratch.url }
})

/** A role that may read and write, with few connections. */
const limitedRole = Effect.fnUntraced(function* (
  { sql }: Replica,
  url: Redacted.Redacted,
  { name, limit }: { readonly name: string; readonly limit: number },
) {
  const password = "not to be told"
  const memberships = "IN ROLE pg_read_all_data, pg_write_all_data"
  yield* Effect.acquireRelease(
    sql.unsafe(`CREATE ROLE ${name} LOGIN PASSWORD '${password}' CONNECTION LIMIT ${limit} ${memberships}`),
    () => Effect.orDie(sql.unsafe(`DROP ROLE ${name}`)),
  )
  const limited = Object.assign(new URL(Redacted.value(url)), { username: name, password })
  return {
    url: Redacted.make(limited.href),
    allow: (connections: number) => sql.unsafe(`ALTER ROLE ${name} CONNECTION LIMIT ${connections}`),
  }
})

layer(ScratchPostgres.layerMigrated)("a storage whose database", (it) => {
  const onDatabase = testsFrom(ScratchPostgres, it.effect)
  const test = testsFrom(setUp, it.effect)

  test("is down is unavailable, and works again when it is up", function* ({ scratch, storage, url }) {
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* scratch.away
        const requests = [
          transact(storage, write),
          storage.agent(agent_id),
          purge(storage, 10),
          storage.probe,
          storage.establish("pepper_check", "x"),
        ]
        for (const request of requests) {
          assert.strictEqual(reasonOf(yield* Effect.flip(request), url), "unavailable")
        }
      }),
    )
    yield* transact(storage, write)
    yield* storage.probe
  })

  onDatabase(
    "does not answer is unavailable within the limits, and works again once it answers",
    function* ({ url }) {
      const network = yield* faultyNetwork(url)
      const bounds = { connectTimeout: "5 seconds", replyTimeout: "1 second" } as const
      const storage = yield* openStorage({ url: network.url, ...bounds })
      yield* transact(storage, write)
      yield* network.holdReplies
      assert.strictEqual(reasonOf(yield* Effect.flip(transact(storage, write)), url), "unavailable")
      yield* network.passReplies
      yield* transact(storage, write)
    },
  )

  onDatabase("is on a host that vanishes is connected again", function* ({ url }) {
    const network = yield* faultyNetwork(url)
    const storage = yield* openStorage({ url: network.url, replyTimeout: "3 seconds" })
    yield* transact(storage, write)
    yield* storage.probe
    yield* network.vanish
    assert.strictEqual(reasonOf(yield* Effect.flip(storage.probe), url), "unavailable")
    yield* transact(storage, write)
    yield* storage.probe
    yield* network.vanish
    yield* transact(storage, write)
    yield* storage.probe
  })

  onDatabase(
    "vanishes fails the probe, although nothing is written and the probe's connection answers",
    function* ({ url }) {
      const network = yield* faultyNetwork(url)
      const storage = yield* openStorage({ url: network.url })
      yield* transact(storage, write)
      yield* storage.probe
      yield* network.vanishBut("transaction_read_only")
      assert.strictEqual(reasonOf(yield* Effect.flip(storage.probe), url), "unavailable")
      yield* storage.probe
      yield* transact(storage, write)
    },
  )

  onDatabase("keeps writes waiting fails the probe, although a new connection answers", function* ({ url }) {
    const network = yield* faultyNetwork(url)
    const storage = yield* openStorage({ url: network.url })
    yield* transact(storage, write)
    yield* network.vanish
    const fiber = yield* Effect.forkChild(Effect.flip(transact(storage, write)))
    yield* eventually(Effect.isFailure(storage.probe))
    assert.include((yield* Effect.flip(storage.probe)).message, "has completed no write for several seconds")
    yield* network.cut
    yield* Fiber.interrupt(fiber)
    yield* eventually(Effect.isSuccess(storage.probe))
  })

  test("refuses changes is read-only, serves reads, and later accepts changes again", function* (opened) {
    const { admin, database, scratch, storage, url } = opened
    const { sql } = admin
    yield* sql`ALTER DATABASE ${sql(database)} SET default_transaction_read_only = on`
    yield* scratch.killConnections
    assert.strictEqual(reasonOf(yield* Effect.flip(transact(storage, write)), url), "read_only")
    assert.strictEqual((yield* storage.agent(agent_id))?.agent_id, agent_id)
    assert.strictEqual(reasonOf(yield* Effect.flip(storage.establish("pepper_check", "x")), url), "read_only")
    assert.strictEqual(reasonOf(yield* Effect.flip(storage.probe), url), "read_only")
    // A storage that has nothing to migrate starts there too.
    const other = yield* openStorage({ url })
    assert.strictEqual((yield* other.agent(agent_id))?.agent_id, agent_id)
    yield* sql
      .withTransaction(sql.unsafe(`ALTER DATABASE ${database} RESET default_transaction_read_only`))
      .pipe(Effect.provideService(SqlClient.BeginTransaction, "BEGIN READ WRITE"))
    yield* eventually(Effect.isSuccess(transact(storage, write)))
    yield* eventually(Effect.isSuccess(storage.probe))
  })

  test("has a full disk is full, and continues once there is space", function* ({ admin, storage, url }) {
    const { sql } = admin
    const failWrites = scriptOf(`
      CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER disk_full BEFORE UPDATE ON agent FOR EACH ROW EXECUTE FUNCTION disk_full()
    `)
    yield* sql.unsafe(failWrites)
    assert.strictEqual(reasonOf(yield* Effect.flip(transact(storage, write)), url), "full")
    yield* sql`DROP TRIGGER disk_full ON agent`
    yield* transact(storage, write)
  })

  test("has no free connection is unavailable, and says so", function* ({ admin, database, storage, url }) {
    const limited = yield* limitedRole(admin, url, { name: `none_${database.slice(-8)}`, limit: 0 })
    const error = yield* Effect.flip(openStorage({ url: limited.url }))
    assert.strictEqual(reasonOf(error, limited.url), "unavailable")
    assert.include(error.message, "raise its limit (ALTER ROLE … CONNECTION LIMIT)")
    yield* transact(storage, write)
  })

  test("has a free connection for the probe only fails the probe until a write has one", function* (opened) {
    const { admin, database, url } = opened
    const limited = yield* limitedRole(admin, url, { name: `one_${database.slice(-8)}`, limit: 1 })
    const storage = yield* openStorage({ url: limited.url })
    yield* eventually(Effect.isSuccess(storage.probe))
    assert.strictEqual(reasonOf(yield* Effect.flip(transact(storage, write)), limited.url), "unavailable")
    assert.strictEqual(reasonOf(yield* Effect.flip(storage.probe), limited.url), "unavailable")
    // Another pool has lent meanwhile, as for a read or the service heartbeat.
    yield* limited.allow(2)
    yield* storage.agent(agent_id)
    assert.strictEqual(reasonOf(yield* Effect.flip(storage.probe), limited.url), "unavailable")
    yield* limited.allow(20)
    yield* storage.probe
    yield* transact(storage, write)
  })

  onDatabase(
    "refuses the password, does not exist or has no address fails the start, each with its own message",
    function* ({ url }) {
      const changed = (change: (address: URL) => void) => {
        const address = new URL(Redacted.value(url))
        change(address)
        return Redacted.make(address.href)
      }
      const urls = [
        changed((address) => Object.assign(address, { password: "wrong-password" })),
        changed((address) => Object.assign(address, { pathname: "no_such_database" })),
        changed((address) => Object.assign(address, { port: "1" })),
      ]
      const errors = yield* Effect.forEach(urls, (wrong) => Effect.flip(openStorage({ url: wrong })))
      for (const [index, error] of errors.entries()) {
        assert.strictEqual(reasonOf(error, urls[index] ?? url), "unavailable")
      }
      assert.strictEqual(new Set(errors.map((error) => error.message)).size, urls.length)
      const unusable = Redacted.make("https://user:zzword@host/database")
      const error = yield* Effect.flip(openStorage({ url: unusable }))
      assert.strictEqual(error.reason, "other")
      assert.notInclude(inspect(error, { depth: 20 }), "zzword")
    },
  )
})

layer(ScratchPostgres.layerMigrated)("a storage whose rows are locked by another program", (it) => {
  const setUpLocked = Effect.gen(function* () {
    const scratch = yield* ScratchPostgres
    const bounds = {
      maxConnections: 3,
      connectTimeout: "5 seconds",
      statementTimeout: "3 seconds",
    } as const
    const storage = yield* openStorage({ url: scratch.url, ...bounds })
    yield* transact(storage, write)
    return { scratch, storage, holder: yield* scratch.replica(), observer: yield* scratch.replica() }
  })

  it.effect("fails in time, and continues once they are free", () =>
    Effect.gen(function* () {
      const { holder, scratch, storage } = yield* setUpLocked
      const error = yield* holder.sql.withTransaction(
        Effect.andThen(holder.sql`LOCK TABLE agent`, Effect.flip(transact(storage, write))),
      )
      assert.strictEqual(reasonOf(error, scratch.url), "timed_out")
      yield* transact(storage, write)
    }),
  )

  it.effect("answers the probe, although every connection waits", () =>
    Effect.gen(function* () {
      const { holder, observer, scratch } = yield* setUpLocked
      const storage = yield* openStorage({ url: scratch.url, maxConnections: 3 })
      const waiting = yield* holder.sql.withTransaction(
        Effect.gen(function* () {
          yield* holder.sql`LOCK TABLE agent`
          const fibers = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(transact(storage, write)))
          yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 3))
          yield* storage.probe
          return fibers
        }),
      )
      yield* Fiber.joinAll(waiting)
    }),
  )

  it.effect("stops waiting for them when its caller is interrupted", () =>
    Effect.gen(function* () {
      const { holder, observer, scratch } = yield* setUpLocked
      const storage = yield* openStorage({ url: scratch.url })
      yield* holder.sql.withTransaction(
        Effect.gen(function* () {
          yield* holder.sql`SELECT 1 FROM agent WHERE agent_id = ${agent_id} FOR UPDATE`
          const fiber = yield* Effect.forkChild(transact(storage, write))
          yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
          yield* Fiber.interrupt(fiber)
          assert.strictEqual(yield* waitingForLocks(observer), 0)
        }),
      )
      yield* transact(storage, write)
    }),
  )
})

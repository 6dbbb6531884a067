import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { faultyNetwork } from "@tocsin/test/postgres/faultyNetwork"
import { type Replica, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import type { PgHost } from "../../src/client/PgPoolOptions.ts"
import { eventually } from "./eventually.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

const backend = ({ sql }: Replica) =>
  Effect.map(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, (rows) => rows[0]?.pid)

const isWaited = ({ pg }: Replica, waiting: number) =>
  Effect.map(pg.poolStatus, (status) => status.waiting === waiting)

const countsOf = ({ pg }: Replica) =>
  Effect.map(pg.poolStatus, ({ total, idle, waiting }) => ({ total, idle, waiting }))

/** Takes every connection of a pool until the scope closes. */
const exhaust = ({ sql }: Replica, connections: number) =>
  Effect.forEach(Array.from({ length: connections }), () => sql.reserve)

layer(ScratchPostgres.layer)("the pool", (it) => {
  const test = testsFrom(ScratchPostgres, it.effect)

  test("connects on first use", function* ({ replica }) {
    const subject = yield* replica()
    assert.deepStrictEqual(yield* countsOf(subject), { total: 0, idle: 0, waiting: 0 })
    yield* subject.sql`SELECT 1`
    assert.deepStrictEqual(yield* countsOf(subject), { total: 1, idle: 1, waiting: 0 })
  })

  test("runs many callers on few connections, and each gets its own answer", function* ({ replica }) {
    const subject = yield* replica({ maxConnections: 3 })
    const numbers = Array.from({ length: 500 }, (_, index) => index)
    const answers = yield* Effect.forEach(
      numbers,
      (given) =>
        subject.sql<{
          given: number
          pid: number
        }>`SELECT ${given}::int4 AS given, pg_backend_pid() AS pid`,
      { concurrency: 100 },
    )
    const rows = answers.flat()
    assert.deepStrictEqual(
      rows.map((row) => row.given),
      numbers,
    )
    assert.isAtMost(new Set(rows.map((row) => row.pid)).size, 3)
    assert.deepStrictEqual(yield* countsOf(subject), { total: 3, idle: 3, waiting: 0 })
  })

  test("makes callers wait when all connections are in use", function* ({ replica }) {
    const subject = yield* replica({ maxConnections: 2 })
    const scope = yield* Scope.make()
    yield* Scope.provide(exhaust(subject, 2), scope)
    const fiber = yield* Effect.forkChild(subject.sql`SELECT 1 AS one`)
    yield* eventually(isWaited(subject, 1))
    assert.isUndefined(fiber.pollUnsafe())
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(yield* Fiber.join(fiber), [{ one: 1 }])
  })

  test("fails a caller after connectTimeout: a retryable ConnectionError of connect", function* (opened) {
    const { replica } = opened
    const subject = yield* replica({ maxConnections: 2, connectTimeout: "1 second" })
    const errors = yield* Effect.scoped(
      Effect.andThen(
        exhaust(subject, 2),
        Effect.all(
          [Effect.flip(subject.sql`SELECT 1`), Effect.flip(subject.sql.withTransaction(Effect.void))],
          {
            concurrency: 2,
          },
        ),
      ),
    )
    for (const error of errors) {
      assert.strictEqual(error.reason._tag, "ConnectionError")
      assert.strictEqual(error.reason.operation, "connect")
      assert.isTrue(error.isRetryable)
      assert.include(error.message, "No database connection became free in time")
    }
    assert.deepStrictEqual(yield* countsOf(subject), { total: 2, idle: 2, waiting: 0 })
  })

  test("gives an interrupted caller's connection to the next", function* ({ replica }) {
    const subject = yield* replica({ maxConnections: 1 })
    const scope = yield* Scope.make()
    yield* Scope.provide(exhaust(subject, 1), scope)
    const abandoned = yield* Effect.forkChild(subject.sql`SELECT 1`)
    const inTransaction = yield* Effect.forkChild(subject.sql.withTransaction(Effect.void))
    yield* eventually(isWaited(subject, 2))
    yield* Fiber.interrupt(abandoned)
    yield* Fiber.interrupt(inTransaction)
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(yield* subject.sql`SELECT 1 AS one`, [{ one: 1 }])
    assert.deepStrictEqual(yield* countsOf(subject), { total: 1, idle: 1, waiting: 0 })
  })

  test("keeps a connection that was opened for an interrupted caller", function* ({ replica }) {
    const subject = yield* replica({ maxConnections: 1 })
    const fiber = yield* Effect.forkChild(subject.sql`SELECT 1`)
    yield* Effect.yieldNow
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(yield* subject.sql`SELECT 1 AS one`, [{ one: 1 }])
    assert.deepStrictEqual(yield* countsOf(subject), { total: 1, idle: 1, waiting: 0 })
  })

  test("does not share transactions with the pool of another replica", function* ({ replica }) {
    const [one, other] = [yield* replica(), yield* replica()]
    const [mine, theirs] = yield* one.sql.withTransaction(Effect.all([backend(one), backend(other)]))
    assert.isNumber(mine)
    assert.notStrictEqual(mine, theirs)
  })

  test("fails with a typed error while the database is down, and works when it is up again", function* (scratch) {
    const subject = yield* scratch.replica()
    yield* subject.sql`SELECT 1`
    const errors = yield* Effect.scoped(
      Effect.andThen(
        scratch.away,
        Effect.forEach([1, 2, 3], () => Effect.flip(subject.sql`SELECT 1`)),
      ),
    )
    for (const error of errors) assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.deepStrictEqual(yield* subject.sql`SELECT 1 AS one`, [{ one: 1 }])
  })

  test("fails with a typed error if there is no answer within connectTimeout", function* (scratch) {
    const network = yield* faultyNetwork(scratch.url)
    const subject = yield* scratch.replica({ url: network.url, connectTimeout: "3 seconds" })
    yield* network.holdReplies
    const error = yield* Effect.flip(subject.sql`SELECT 1`)
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.include(error.message, "did not answer in time")
    yield* network.passReplies
    yield* Effect.retry(subject.sql`SELECT 1`, { while: (failure) => failure.isRetryable, times: 20 })
  })

  test("recovers after the network is cut", function* (scratch) {
    const network = yield* faultyNetwork(scratch.url)
    const subject = yield* scratch.replica({ url: network.url })
    const error = yield* Effect.flip(
      subject.sql.withTransaction(Effect.andThen(network.cut, subject.sql`SELECT 1`)),
    )
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.deepStrictEqual(yield* subject.sql`SELECT 1 AS one`, [{ one: 1 }])
  })

  test("closes all connections of a vanished host after one of them gives no answer", function* (scratch) {
    const network = yield* faultyNetwork(scratch.url)
    const subject = yield* scratch.replica({
      url: network.url,
      maxConnections: 4,
      replyTimeout: "3 seconds",
    })
    yield* Effect.scoped(exhaust(subject, 4))
    yield* network.vanish
    const error = yield* Effect.flip(subject.sql`SELECT 1`)
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.strictEqual(error.reason.operation, "execute")
    assert.include(error.message, "did not answer in time")
    const answers = Effect.forEach([1, 2, 3, 4], (one) => subject.sql`SELECT ${one}::int4 AS one`, {
      concurrency: 4,
    })
    assert.deepStrictEqual((yield* answers).flat(), [{ one: 1 }, { one: 2 }, { one: 3 }, { one: 4 }])
  })

  test("closes connections of a vanished host that answered just before", function* (scratch) {
    const network = yield* faultyNetwork(scratch.url)
    const subject = yield* scratch.replica({
      url: network.url,
      maxConnections: 2,
      replyTimeout: "3 seconds",
    })
    yield* Effect.scoped(exhaust(subject, 2))
    const waiting = yield* Effect.forkChild(Effect.flip(subject.sql`SELECT pg_sleep(60)`))
    yield* eventually(Effect.map(subject.pg.poolStatus, ({ waitedMillis }) => waitedMillis > 20))
    yield* subject.sql`SELECT 1`
    yield* network.vanish
    assert.include((yield* Fiber.join(waiting)).message, "did not answer in time")
    assert.deepStrictEqual(yield* subject.sql`SELECT 1 AS one`, [{ one: 1 }])
  })

  test("closes an unused connection of a vanished host", function* (scratch) {
    const network = yield* faultyNetwork(scratch.url)
    const host: PgHost = { silentSince: -Infinity }
    const options = { url: network.url, host, maxConnections: 1, replyTimeout: "1 second" } as const
    const applicationName = "not used yet"
    const subject = yield* scratch.replica({ ...options, applicationName })
    const other = yield* scratch.replica(options)
    const opened = other.sql`
      SELECT FROM pg_stat_activity WHERE application_name = ${applicationName} AND state = 'idle'
    `
    const total = Effect.map(subject.pg.poolStatus, (status) => status.total)
    const fiber = yield* Effect.forkChild(subject.sql`SELECT 1`)
    yield* eventually(Effect.map(total, (count) => count === 1))
    yield* Fiber.interrupt(fiber)
    yield* eventually(Effect.map(opened, ({ length }) => length === 1))
    yield* network.vanish
    yield* Effect.flip(other.sql`SELECT 1`)
    assert.deepStrictEqual(yield* subject.sql`SELECT 1 AS one`, [{ one: 1 }])
  })

  test("reports how long a statement has waited for its answer", function* (scratch) {
    const network = yield* faultyNetwork(scratch.url)
    const subject = yield* scratch.replica({ url: network.url })
    yield* subject.sql`SELECT 1`
    const waited = Effect.map(subject.pg.poolStatus, ({ waitedMillis }) => waitedMillis)
    assert.strictEqual(yield* waited, 0)
    yield* network.holdReplies
    const fiber = yield* Effect.forkChild(subject.sql`SELECT 1`)
    yield* eventually(Effect.map(waited, (millis) => millis > 20))
    yield* network.passReplies
    yield* Fiber.join(fiber)
    assert.strictEqual(yield* waited, 0)
  })

  test("leaves no connection open when its scope closes, even with one in use", function* ({ replica }) {
    const observer = yield* replica()
    const applicationName = "about to close"
    const others = observer.sql`SELECT FROM pg_stat_activity WHERE application_name = ${applicationName}`
    const released = yield* Deferred.make<void>()
    const fiber = yield* Effect.scoped(
      Effect.gen(function* () {
        const subject = yield* replica({ applicationName, replyTimeout: "3 seconds" })
        const holder = yield* Effect.forkDetach(
          Effect.scoped(Effect.andThen(exhaust(subject, 1), Deferred.await(released))),
        )
        yield* subject.sql`SELECT 1`
        yield* eventually(Effect.map(others, (found) => found.length === 2))
        return holder
      }),
    )
    yield* eventually(Effect.map(others, (found) => found.length === 0))
    yield* Deferred.succeed(released, undefined)
    yield* Fiber.join(fiber)
  })
})

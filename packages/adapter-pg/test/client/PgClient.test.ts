import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { faultyNetwork } from "@tocsin/test/postgres/faultyNetwork"
import { type Replica, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { eventLoopTurn, eventually } from "./eventually.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

const backend = ({ sql }: Pick<Replica, "sql">) =>
  Effect.map(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, (rows) => rows[0]?.pid)

/** Whether some other connection of this database runs such a statement. */
const isRunning = (observer: Replica, statement: string) =>
  Effect.map(
    observer.sql<{ running: boolean }>`
      SELECT count(*) > 0 AS running FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND state = 'active' AND query LIKE ${`%${statement}%`}
    `,
    (rows) => rows[0]?.running === true,
  )

const isWaitingForLock = (observer: Replica) =>
  Effect.map(
    observer.sql<{ waiting: boolean }>`
      SELECT count(*) > 0 AS waiting FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'
    `,
    (rows) => rows[0]?.waiting === true,
  )

const assertAllIdle = Effect.fnUntraced(function* ({ pg }: Pick<Replica, "pg">) {
  const { idle, total, waiting } = yield* pg.poolStatus
  assert.deepStrictEqual({ idle, waiting }, { idle: total, waiting: 0 })
})

/** A pool under test, and one to look on with. */
const setUp = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const subject = yield* scratch.replica({ maxConnections: 1 })
  const observer = yield* scratch.replica({ maxConnections: 1 })
  return { scratch, subject, observer }
})

layer(ScratchPostgres.layer)("an interrupted statement", (it) => {
  const test = testsFrom(setUp, it.effect)

  test("is cancelled on the server, and its connection used again", function* ({ observer, subject }) {
    const pid = yield* backend(subject)
    const fiber = yield* Effect.forkChild(subject.sql`SELECT pg_sleep(600)`)
    yield* eventually(isRunning(observer, "pg_sleep"))
    yield* Fiber.interrupt(fiber)
    assert.isFalse(yield* isRunning(observer, "pg_sleep"))
    yield* assertAllIdle(subject)
    assert.strictEqual(yield* backend(subject), pid)
  })

  test("is cancelled also as a prepared statement", function* ({ observer, subject }) {
    const sleep = "SELECT pg_sleep($1::float8)"
    yield* subject.pg.query(sleep, [0])
    const fiber = yield* Effect.forkChild(subject.pg.query(sleep, [600]))
    yield* eventually(isRunning(observer, "pg_sleep"))
    yield* Fiber.interrupt(fiber)
    assert.isFalse(yield* isRunning(observer, "pg_sleep"))
    assert.lengthOf(yield* subject.pg.query(sleep, [0]), 1)
  })

  test("takes its transaction with it", function* ({ observer, subject }) {
    yield* observer.sql`CREATE TABLE abandoned (id int4)`
    const pid = yield* backend(subject)
    const fiber = yield* Effect.forkChild(
      subject.sql.withTransaction(
        Effect.andThen(subject.sql`INSERT INTO abandoned VALUES (1)`, subject.sql`SELECT pg_sleep(600)`),
      ),
    )
    yield* eventually(isRunning(observer, "pg_sleep"))
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(yield* observer.sql`SELECT * FROM abandoned`, [])
    yield* assertAllIdle(subject)
    assert.strictEqual(yield* backend(subject), pid)
  })

  test("stops waiting for a lock, and leaves none", function* ({ observer, scratch, subject }) {
    const holder = yield* scratch.replica()
    yield* holder.sql`CREATE TABLE locked (id int4)`
    yield* holder.sql.withTransaction(
      Effect.gen(function* () {
        yield* holder.sql`LOCK TABLE locked`
        const fiber = yield* Effect.forkChild(subject.sql`INSERT INTO locked VALUES (1)`)
        yield* eventually(isWaitingForLock(observer))
        yield* Fiber.interrupt(fiber)
        assert.isFalse(yield* isWaitingForLock(observer))
      }),
    )
    assert.deepStrictEqual(yield* holder.sql`SELECT * FROM locked`, [])
    yield* assertAllIdle(subject)
  })

  test("of one fiber does not touch what another runs on the same connection", function* (opened) {
    const { observer, scratch, subject } = opened
    const holder = yield* scratch.replica({ maxConnections: 1 })
    yield* holder.sql`SELECT pg_advisory_lock(1)`
    const rows = yield* subject.sql.withTransaction(
      Effect.gen(function* () {
        const slow = yield* Effect.forkChild(
          subject.sql`SELECT 'kept' AS result FROM pg_advisory_xact_lock(1)`,
        )
        yield* eventually(isWaitingForLock(observer))
        const queued = yield* Effect.forkChild(subject.sql`SELECT pg_sleep(600)`)
        yield* Effect.yieldNow
        yield* Fiber.interrupt(queued)
        yield* holder.sql`SELECT pg_advisory_unlock_all()`
        return yield* Fiber.join(slow)
      }),
    )
    assert.deepStrictEqual(rows, [{ result: "kept" }])
    yield* assertAllIdle(subject)
  })

  it.effect("may be interrupted at any moment, many at a time, without losing a connection", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const subject = yield* scratch.replica({ maxConnections: 4 })
      yield* subject.sql`CREATE TABLE storm (id int4)`
      const transaction = (id: number) =>
        subject.sql.withTransaction(
          Effect.gen(function* () {
            yield* subject.sql`INSERT INTO storm VALUES (${id})`
            yield* subject.sql`SELECT pg_sleep(0.001)`
            return yield* Effect.fail("always rolled back")
          }),
        )
      yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => index),
        Effect.fnUntraced(function* (index) {
          const statement = subject.sql`SELECT pg_sleep(0.002)`
          const fiber = yield* Effect.forkChild(index % 2 === 0 ? transaction(index) : statement)
          // Each is cut at another point of its life.
          for (let turn = 0; turn < index % 13; turn++) yield* eventLoopTurn
          yield* Fiber.interrupt(fiber)
        }),
        { concurrency: 16, discard: true },
      )
      const atRest = Effect.map(
        subject.pg.poolStatus,
        ({ idle, total, waiting }) => idle === total && waiting === 0,
      )
      yield* eventually(atRest)
      assert.deepStrictEqual(yield* subject.sql`SELECT * FROM storm`, [])
      yield* Effect.scoped(Effect.forEach([1, 2, 3, 4], () => subject.sql.reserve))
    }),
  )

  test("ends within replyTimeout when the network is down, and its connection is closed", function* (opened) {
    const { observer, scratch } = opened
    const network = yield* faultyNetwork(scratch.url)
    const subject = yield* scratch.replica({
      url: network.url,
      maxConnections: 1,
      replyTimeout: "3 seconds",
    })
    yield* subject.sql`SELECT 1`
    const fiber = yield* Effect.forkChild(subject.sql`SELECT pg_sleep(600)`)
    yield* eventually(isRunning(observer, "pg_sleep"))
    yield* network.holdReplies
    yield* Fiber.interrupt(fiber)
    yield* eventually(Effect.map(subject.pg.poolStatus, ({ total }) => total === 0))
    yield* network.passReplies
    assert.deepStrictEqual(yield* subject.sql`SELECT 1 AS one`, [{ one: 1 }])
  })
})

layer(ScratchPostgres.layer)("a lost connection", (it) => {
  const test = testsFrom(setUp, it.effect)

  test("while idle does not disturb callers", function* ({ scratch, subject }) {
    const pid = yield* backend(subject)
    assert.isAtLeast(yield* scratch.killConnections, 1)
    const after = yield* Effect.retry(backend(subject), { while: (error) => error.isRetryable, times: 3 })
    assert.notStrictEqual(after, pid)
  })

  test("during a statement is a retryable ConnectionError, and the pool recovers", function* (opened) {
    const { observer, scratch, subject } = opened
    const fiber = yield* Effect.forkChild(subject.sql`SELECT pg_sleep(600)`)
    yield* eventually(isRunning(observer, "pg_sleep"))
    yield* scratch.killConnections
    const error = yield* Effect.flip(Fiber.join(fiber))
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.isTrue(error.isRetryable)
    assert.deepStrictEqual(yield* subject.sql`SELECT 1 AS one`, [{ one: 1 }])
    yield* assertAllIdle(subject)
  })

  test("between the statements of a transaction is a typed error, and stores nothing", function* (opened) {
    const { scratch, subject } = opened
    yield* subject.sql`CREATE TABLE half_done (id int4)`
    const insert = (id: number) => subject.sql`INSERT INTO half_done VALUES (${id})`
    const error = yield* Effect.flip(
      subject.sql.withTransaction(
        Effect.gen(function* () {
          yield* insert(1)
          yield* subject.sql.withTransaction(Effect.andThen(scratch.killConnections, insert(2)))
        }),
      ),
    )
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.deepStrictEqual(yield* subject.sql`SELECT * FROM half_done`, [])
  })

  test("does not hide a failure of the transaction itself", function* ({ scratch, subject }) {
    const failure = yield* Effect.flip(
      subject.sql.withTransaction(
        Effect.andThen(scratch.killConnections, Effect.fail("the reason" as const)),
      ),
    )
    assert.strictEqual(failure, "the reason")
    yield* assertAllIdle(subject)
  })

  test("before COMMIT fails at commit", function* ({ scratch, subject }) {
    const error = yield* Effect.flip(subject.sql.withTransaction(scratch.killConnections))
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.strictEqual(error.reason.operation, "commit")
  })

  test("after COMMIT was sent is a ConnectionError of commit: the outcome is unknown", function* (opened) {
    const { observer, scratch } = opened
    const network = yield* faultyNetwork(scratch.url)
    const subject = yield* scratch.replica({ url: network.url })
    yield* observer.sql`CREATE TABLE unknown_outcome (id int4)`
    const rows = observer.sql`SELECT id FROM unknown_outcome`
    const fiber = yield* Effect.forkChild(
      subject.sql.withTransaction(
        Effect.andThen(subject.sql`INSERT INTO unknown_outcome VALUES (1)`, network.holdReplies),
      ),
    )
    yield* eventually(Effect.map(rows, (found) => found.length === 1))
    yield* network.cut
    const error = yield* Effect.flip(Fiber.join(fiber))
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.strictEqual(error.reason.operation, "commit")
  })

  test("without an answer to COMMIT fails within replyTimeout", function* ({ scratch }) {
    const network = yield* faultyNetwork(scratch.url)
    const subject = yield* scratch.replica({ url: network.url, replyTimeout: "3 seconds" })
    const error = yield* Effect.flip(subject.sql.withTransaction(network.holdReplies))
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.strictEqual(error.reason.operation, "commit")
    yield* network.passReplies
    assert.deepStrictEqual(yield* subject.sql`SELECT 1 AS one`, [{ one: 1 }])
  })

  test("by PostgreSQL's timeout for idle transactions is a typed error", function* ({ observer, scratch }) {
    const subject = yield* scratch.replica({ idleInTransactionTimeout: "20 millis" })
    const error = yield* Effect.flip(
      subject.sql.withTransaction(
        Effect.gen(function* () {
          const pid = yield* backend(subject)
          const gone = observer.sql`SELECT FROM pg_stat_activity WHERE pid = ${pid}`
          yield* eventually(Effect.map(gone, (found) => found.length === 0))
          yield* subject.sql`SELECT 1`
        }),
      ),
    )
    assert.strictEqual(error.reason._tag, "ConnectionError")
    assert.deepStrictEqual(yield* subject.sql`SELECT 1 AS one`, [{ one: 1 }])
  })
})

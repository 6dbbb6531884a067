import { assert, layer } from "@effect/vitest"
import { claimOutbox } from "@tocsin/core/heart/notifications/claimOutbox"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { enqueue } from "@tocsin/testing/outboxItems"
import { openReplica, type Replica } from "@tocsin/testing/Replica"
import { enroll, eventOf, heartbeatOf, keyOf, send } from "@tocsin/testing/samples"
import { Duration, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "../client/eventually.ts"
import { CHANNEL, DELIVERIES } from "../../src/hints/remoteWakeups.ts"
import * as PgStorage from "../../src/PgStorage.ts"
import { transact } from "@tocsin/testing/transact"

const setUp = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const { pg, sql } = yield* scratch.replica()
  const open = (applicationName: string) =>
    openReplica({
      name: "PostgreSQL",
      place: Layer.empty,
      client: PgStorage.layer({ url: scratch.url, applicationName }),
    })

  /**
   * Counts the announcements of deliveries that an effect makes. Those of one database arrive in the
   * order of their commits.
   */
  const announcementsOf = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.scoped(
      Effect.gen(function* () {
        const payloads = yield* pg.listen(CHANNEL)
        yield* effect
        yield* sql`SELECT pg_notify(${CHANNEL}, 'that is all')`
        const heard = Stream.takeUntil(payloads, (payload) => payload === "that is all")
        const deliveries = Stream.filter(heard, (payload) => payload.includes(DELIVERIES))
        return (yield* Stream.runCollect(deliveries)).length
      }),
    )

  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix} ${n}`)
  /** Enqueues an item, each time another one. */
  const put = (replica: Replica, name: string) => enqueue(replica, [[name, name, {}]])

  return { scratch, sql, open, announcementsOf, names, put }
})

/** Counts the hints to a replica from now on; the first says that it listens. */
const watch = Effect.fnUntraced(function* ({ storage }: Replica) {
  const hints = { count: 0 }
  yield* Effect.forkScoped(Stream.runForEach(storage.hints, () => Effect.sync(() => hints.count++)))
  const reach = (count: number) => eventually(Effect.sync(() => hints.count >= count))
  yield* reach(1)
  return { hints, reach }
})

layer(ScratchPostgres.layerMigrated)("announcements", (it) => {
  it.effect("are sent once a second, however many deliveries are enqueued", () =>
    Effect.gen(function* () {
      const { announcementsOf, names, open, put } = yield* setUp
      const replica = yield* open("burst")
      const burst = (name: string) =>
        Effect.forEach(names(name, 40), (item) => put(replica, item), { concurrency: 8, discard: true })
      assert.strictEqual(yield* announcementsOf(burst("first")), 1)
      yield* TestClock.adjust("999 millis")
      assert.strictEqual(yield* announcementsOf(burst("second")), 0)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* announcementsOf(burst("third")), 1)
    }),
  )

  it.effect("are not sent for heartbeats, results without notifications, or claims", () =>
    Effect.gen(function* () {
      const { announcementsOf, open } = yield* setUp
      const replica = yield* open("quiet")
      yield* enroll(replica, "quiet")
      const result = (n: number, status: "ok" | "critical") =>
        send(replica, "quiet", [eventOf(n, { status, notifications_enabled: n > 2 })])
      const claim = transact(
        replica.storage,
        claimOutbox({ receivers: ["debug"], limit: 100, lease: Duration.minutes(1) }),
      )
      const steps: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        replica.ingest.heartbeat(keyOf("quiet"), heartbeatOf("quiet")),
        result(1, "critical"),
        result(2, "ok"),
        result(3, "critical"),
        claim,
        result(4, "critical"),
      ]
      const announced = yield* Effect.forEach(steps, (step) =>
        Effect.andThen(TestClock.adjust("1 second"), announcementsOf(step)),
      )
      assert.deepStrictEqual(announced, [0, 0, 0, 1, 0, 0])
    }),
  )
})

layer(ScratchPostgres.layerMigrated)("a replica", (it) => {
  it.effect("receives the announcements of others, and not its own", () =>
    Effect.gen(function* () {
      const { open, put } = yield* setUp
      const [one, other, third] = yield* Effect.all([open("one"), open("other"), open("third")])
      const [ofOne, ofOther] = [yield* watch(one), yield* watch(other)]
      yield* put(one, "of one")
      yield* ofOther.reach(2)
      yield* put(other, "of the other")
      yield* ofOne.reach(2)
      // Announcements arrive in the order of their commits: this one after all that came before.
      yield* put(third, "of a third")
      yield* Effect.all([ofOne.reach(3), ofOther.reach(3)])
      assert.deepStrictEqual([ofOne.hints.count, ofOther.hints.count], [3, 3])
    }),
  )

  it.effect("looks again after an announcement whose sender fell silent", () =>
    Effect.gen(function* () {
      const { open, put } = yield* setUp
      const [dying, other] = yield* Effect.all([open("dying"), open("other")])
      const { hints, reach } = yield* watch(other)
      yield* put(dying, "announced")
      yield* reach(2)
      yield* put(dying, "not announced")
      yield* TestClock.adjust("1499 millis")
      assert.strictEqual(hints.count, 2)
      yield* TestClock.adjust("1 millis")
      yield* reach(3)
    }),
  )

  it.effect("reconnects if its listening connection is lost, and looks for missed deliveries", () =>
    Effect.gen(function* () {
      const { open, put, sql } = yield* setUp
      const [deaf, other] = yield* Effect.all([open("deaf"), open("other")])
      const { hints, reach } = yield* watch(deaf)
      const lost = yield* sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'deaf' AND query LIKE 'LISTEN%'
      `
      assert.strictEqual(lost.length, 1)
      yield* reach(2)
      yield* put(other, "after that")
      yield* reach(3)
      assert.strictEqual(hints.count, 3)
    }),
  )

  it.effect("receives announcements again after its database was down", () =>
    Effect.gen(function* () {
      const { open, put, scratch } = yield* setUp
      const [one, other] = yield* Effect.all([open("one"), open("other")])
      const { reach } = yield* watch(one)
      yield* Effect.scoped(Effect.andThen(scratch.away, eventually(Effect.isFailure(other.storage.probe))))
      yield* reach(2)
      yield* put(other, "once it is back")
      yield* reach(3)
    }),
  )

  it.effect("listens on one connection for all consumers of its hints, and on none without consumers", () =>
    Effect.gen(function* () {
      const { open, sql } = yield* setUp
      const replica = yield* open("listener")
      const listening = Effect.map(
        sql`SELECT FROM pg_stat_activity WHERE application_name = 'listener' AND query LIKE 'LISTEN%'`,
        (rows) => rows.length,
      )
      assert.strictEqual(yield* listening, 0)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.all([watch(replica), watch(replica)])
          assert.strictEqual(yield* listening, 1)
        }),
      )
      yield* eventually(Effect.map(listening, (count) => count === 0))
    }),
  )
})

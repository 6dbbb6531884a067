import { assert, layer } from "@effect/vitest"
import { namesOf, type Topics } from "@tocsin/core/kernel/topics/Topics"
import { topicNames } from "@tocsin/contract/liveViews/topicNames"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { openReplica, type Replica } from "@tocsin/testing/Replica"
import { enroll, eventOf, send } from "@tocsin/testing/samples"
import { Effect, Layer, Stream } from "effect"
import { eventually } from "../client/eventually.ts"
import { CHANNEL, DELIVERIES } from "../../src/hints/remoteWakeups.ts"
import * as PgStorage from "../../src/PgStorage.ts"

const setUp = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const { sql } = yield* scratch.replica()
  const open = (applicationName: string) =>
    openReplica({
      name: "PostgreSQL",
      place: Layer.empty,
      client: PgStorage.layer({ url: scratch.url, applicationName }),
    })
  const listening = (applicationName: string) =>
    eventually(
      Effect.map(
        sql`SELECT FROM pg_stat_activity WHERE application_name = ${applicationName} AND query LIKE 'LISTEN%'`,
        (rows) => rows.length === 1,
      ),
    )
  return { open, listening, sql }
})

/** The topics that a replica hears of from others, from now on. */
const reportedBy = Effect.fnUntraced(function* ({ storage }: Replica) {
  const heard = new Set<string>()
  const note = (topics: Topics) => Effect.sync(() => namesOf(topics).forEach((name) => heard.add(name)))
  yield* Effect.forkScoped(Stream.runForEach(storage.remoteChanges, note))
  return heard
})

layer(ScratchPostgres.layerMigrated)("topics of other processes", (it) => {
  it.effect("arrive though their process ends right after its commit, and leave out its own", () =>
    Effect.gen(function* () {
      const { listening, open, sql } = yield* setUp
      const watcher = yield* open("watcher")
      const heard = yield* reportedBy(watcher)
      yield* listening("watcher")
      yield* Effect.scoped(Effect.flatMap(open("command"), (command) => enroll(command, "a")))
      yield* eventually(Effect.sync(() => heard.has("audit")))
      assert.deepStrictEqual(Array.from(heard).toSorted(), ["agents", "audit"])
      const heardByOther = yield* reportedBy(yield* open("other"))
      yield* listening("other")
      heard.clear()
      yield* send(watcher, "a", [eventOf(1)])
      yield* eventually(Effect.sync(() => heardByOther.has("checks")))
      // It arrives after the watcher's own announcement.
      yield* sql`SELECT pg_notify(${CHANNEL}, 'someone policy')`
      yield* eventually(Effect.sync(() => heard.has("policy")))
      assert.isFalse(heard.has("checks"))
    }),
  )

  it.effect("share one connection with its hints", () =>
    Effect.gen(function* () {
      const { open, sql } = yield* setUp
      const replica = yield* open("both")
      const heard = yield* reportedBy(replica)
      const hints = { count: 0 }
      yield* Effect.forkScoped(
        Stream.runForEach(replica.storage.hints, () => Effect.sync(() => hints.count++)),
      )
      yield* eventually(Effect.sync(() => hints.count === 1))
      // They arrive in this order.
      yield* sql`SELECT pg_notify(${CHANNEL}, name) FROM unnest(${["other policy", `other ${DELIVERIES}`, "other audit"]}::text[]) AS name`
      yield* eventually(Effect.sync(() => heard.has("audit")))
      yield* eventually(Effect.sync(() => hints.count === 2))
      assert.deepStrictEqual(Array.from(heard), ["policy", "audit"])
      const listening = yield* sql`
        SELECT FROM pg_stat_activity WHERE application_name = 'both' AND query LIKE 'LISTEN%'
      `
      assert.lengthOf(listening, 1)
    }),
  )

  it.effect("are all named once a lost connection is back", () =>
    Effect.gen(function* () {
      const { listening, open, sql } = yield* setUp
      const heard = yield* reportedBy(yield* open("deaf"))
      yield* listening("deaf")
      assert.strictEqual(heard.size, 0)
      yield* sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'deaf' AND query LIKE 'LISTEN%'
      `
      yield* eventually(Effect.sync(() => heard.size === topicNames.length))
    }),
  )
})

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { scriptOf } from "@tocsin/adapter-pg/client/PgPoolOptions"
import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { Storage, type StorageError } from "@tocsin/core/kernel/ports/Storage"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { START_MILLIS, start } from "@tocsin/testing/samples"
import { Context, Duration, Effect, Layer, Result } from "effect"
import * as Pg from "../../packages/adapter-pg/src/migrations/migrate.ts"
import { SqliteConnection } from "../../packages/adapter-sqlite/src/connection/SqliteConnection.ts"
import * as Sqlite from "../../packages/adapter-sqlite/src/migrations/migrate.ts"
import { InterruptedStorage } from "../passes/InterruptedStorage.ts"
import { PATIENCE, ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { AGENT, report } from "../service/agents.ts"
import { openService } from "../service/Service.ts"
import { ScratchFolder } from "../storage/ScratchFolder.ts"
import { VirtualTime } from "../system/VirtualTime.ts"

/** The rows of v0.3.0, which was killed after 1 h 59 min 50 s of its story. */
const rowsOf = (storage: "postgres" | "sqlite"): string =>
  readFileSync(new URL(`v0.3.0/${storage}.sql`, import.meta.url), "utf8")
/** When this version starts. */
const STARTS = Duration.toMillis("7210 seconds")

const NAMES = ["ann", "boss", "chat"]
const CRITICAL = { steps: [{ to: ["ann"] }, { after: "15m", to: ["boss"] }], remind: "1h" }
/** As v0.3.0 had it. */
const POLICY = Result.getOrThrow(
  readPolicy(
    {
      windows: [
        { name: "backup", cron: "20 10 * * *", tz: "UTC", for: "30m", match: ["check_id = windowed"] },
      ],
      routes: [
        { match: ["severity = critical"], ...CRITICAL },
        { match: ["severity != critical"], to: ["chat"], remind: "2h" },
      ],
    },
    NAMES,
  ),
)

/** A minute later, changes by a server that knows no episodes: `lowered` gets milder, `worsens` critical again. */
const CHANGED_BESIDE = `
UPDATE check_state SET status = 'warning' WHERE check_id = 'lowered';
UPDATE incident_member SET severity = 'warning', change_seq = 2 WHERE check_id = 'lowered';
UPDATE incident SET severity = 'warning', member_changes = 2, members_warning = 1, members_critical = 0,
  announced = 'warning', reached_warning_at = reached_critical_at WHERE incident_key = 'a/lowered';
UPDATE check_state SET status = 'critical' WHERE check_id = 'worsens';
UPDATE incident_member SET severity = 'critical', change_seq = 3 WHERE check_id = 'worsens';
UPDATE incident SET severity = 'critical', member_changes = 3, members_warning = 0, members_critical = 1,
  announced = 'critical' WHERE incident_key = 'a/worsens'`

const REPORTS: ReadonlyArray<readonly [minute: number, check?: string, status?: CheckStatus]> = [
  [125, "milder", "critical"],
  [135, "again", "critical"],
  [139, "worsens", "warning"],
  [150, "lowered", "critical"],
  [155, "worsens", "critical"],
  [190],
]

/** The minute of the story in which each message arrived. */
const EXPECTED = `
122 chat lowered opened
125 ann milder reminder
125 ann refused opened
125 boss milder reminder
127 boss refused escalation
128 ann brief ack_ran_out
129 ann worsens reminder
129 boss worsens reminder
129 chat unreached opened
130 ann acked ack_ran_out
130 ann open reminder
130 boss acked ack_ran_out
131 boss fresh escalation
135 ann again worsened
140 ann windowed opened
143 boss brief escalation
145 boss acked escalation
145 boss open reminder
150 ann lowered worsened
150 boss again escalation
150 chat worsens reminder
155 ann worsens worsened
155 boss windowed escalation
165 ann silenced opened
165 boss lowered escalation
170 boss worsens escalation
176 ann fresh reminder
180 boss silenced escalation
185 ann milder reminder
185 ann refused reminder
185 boss milder reminder
186 ann quiet ack_ran_out
187 boss refused reminder
188 ann brief reminder`

interface Upgraded {
  readonly storage: Layer.Layer<Storage, StorageError>
  /** Changes rows past the storage, as another process does. */
  readonly execute: (sql: string) => Effect.Effect<void>
}

/** Starts this version on a database, and plays an hour. */
const play = Effect.fnUntraced(function* ({ execute, storage: layer }: Upgraded) {
  const storage = Context.get(yield* Layer.build(Layer.fresh(layer)), Storage)
  const time = new VirtualTime()
  const calls = new InterruptedStorage()
  let isExecuting = false
  const changeBeside = Effect.promise(() => {
    isExecuting = true
    return Effect.runPromise(execute(CHANGED_BESIDE)).finally(() => (isExecuting = false))
  })
  const minuteOf = (micros: bigint) => Math.floor((Number(micros / 1_000n) - START_MILLIS) / 60_000)
  const program = Effect.gen(function* () {
    const options = { idleFor: Duration.seconds(5), notifiers: NAMES, deadAfter: Duration.days(365) }
    const service = yield* openService({ ...options, storage, clientOf: calls.clientOf })
    const rules = { policy: POLICY }
    const process = yield* service.open("only", { keepsHouse: true, reports: true, configured: NAMES, rules })
    yield* Effect.sleep("1 minute")
    yield* changeBeside
    for (const [minute, check, status] of REPORTS) {
      yield* Effect.sleep(minute * 60_000 - STARTS - time.now)
      if (check !== undefined && status !== undefined) yield* report(process, [{ check, status }], AGENT)
    }
    return service.receivers.arrivals.map(({ at, notification }) => {
      const { cause, event_type, incident, receiver } = notification
      return [minuteOf(at), receiver, incident.incident_key.slice(2), cause ?? event_type].join(" ")
    })
  })
  const isUnderWay = () => isExecuting || calls.isUnderWay()
  const clock = time.clock(() => STARTS)
  const arrived = yield* Effect.promise(() => time.run(Effect.scoped(program), clock, isUnderWay))
  // Minutes have three digits; those of one minute come in any order.
  return arrived.toSorted()
})

const sqlite = Effect.gen(function* () {
  const file = join((yield* ScratchFolder).path, "tocsin.db")
  const connection = SqliteConnection.open(file)
  yield* Effect.addFinalizer(() => Effect.sync(() => connection.close()))
  Sqlite.migrate(connection, start, Sqlite.migrations.slice(0, 1))
  const execute = (sql: string) => Effect.sync(() => connection.execute(sql))
  yield* execute(rowsOf("sqlite"))
  return yield* play({ execute, storage: SqliteStorage.layer({ file }) })
}).pipe(Effect.provide(ScratchFolder.layer))

const postgres = Effect.gen(function* () {
  const { replica, url } = yield* ScratchPostgres
  const { sql } = yield* replica({ maxConnections: 1 })
  yield* Pg.migrate(sql, { known: Pg.migrations.slice(0, 1) })
  const execute = (text: string) => Effect.orDie(Effect.asVoid(sql.unsafe(scriptOf(text))))
  yield* execute(rowsOf("postgres"))
  return yield* play({ execute, storage: PgStorage.layer({ url, ...PATIENCE }) })
}).pipe(Effect.provide(ScratchPostgres.layer))

describe("open incidents of v0.3.0 page nobody by the upgrade, keep what they know, and go on", () => {
  for (const [name, played] of Object.entries({ SQLite: sqlite, PostgreSQL: postgres }))
    it.live(`on ${name}`, () =>
      Effect.scoped(Effect.map(played, (lines) => assert.strictEqual(`\n${lines.join("\n")}`, EXPECTED))),
    )
})

/** Plays a year on virtual time: the server's parts over a file of SQLite, without sockets. */
import { statSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"
import process from "node:process"
import { DatabaseSync } from "node:sqlite"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { IdlePause } from "@tocsin/core/kernel/ports/IdlePause"
import { Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { START_MILLIS } from "@tocsin/testing/samples"
import { Duration, Effect, Layer, References } from "effect"
import { Admission, Ingest, SqliteStorage, Tocsin } from "tocsin/effect"
import { VirtualTime } from "../../../test/system/VirtualTime.ts"
import { answerCommands } from "../processes/answerCommands.ts"
import { Host } from "./Host.ts"
import { AGENTS, type Month, type YearCommand } from "./Year.ts"

const MONTH_DAYS = 30
const DAY_MILLIS = 86_400_000
const MIB = 1_048_576
/** Looks that come every few seconds in reality. */
const LOOK_EVERY = Duration.minutes(5)
const RULES = { staleAfter: Duration.hours(5), deadAfter: Duration.hours(9) }

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

const rowsOf = (file: string) => {
  const reader = new DatabaseSync(file, { readOnly: true })
  const tables = ["agent", "check_state", "check_event", "incident", "incident_change", "outbox"]
  const rows = tables.map((table) => [
    table,
    Number(reader.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]),
  ])
  reader.close()
  return Object.fromEntries(rows) as Month["rows"]
}

/** The receiver answers each notification after a moment. */
const webhook = {
  kind: NotifierName.make("webhook"),
  send: () => Effect.delay(Effect.succeed({ outcome: "delivered" as const }), 50),
  test: Effect.succeed({ result: { outcome: "delivered" as const }, status: 200 }),
}

/** The file's storage, which reports work that is under way in real time. */
const storageOf = (file: string, onWork: (change: 1 | -1) => void) => {
  const note = (change: 1 | -1) => Effect.sync(() => onWork(change))
  const counted = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.andThen(note(1), Effect.ensuring(effect, note(-1)))
  const watched = Effect.gen(function* () {
    const storage = yield* Storage
    yield* Effect.addFinalizer(() => note(1))
    return Storage.of({
      ...storage,
      transact: (command) => counted(storage.transact(command)),
      expire: (piece) => counted(storage.expire(piece)),
      establish: (name, value) => counted(storage.establish(name, value)),
    })
  })
  // Without syncs: the power does not fail here, and the clock would wait for them.
  const database = SqliteStorage.layer({ file, log: { sync: (_, done) => done(null) } })
  const closed = Layer.effectDiscard(Effect.addFinalizer(() => note(-1)))
  return Layer.effect(Storage, watched).pipe(Layer.provide(database), Layer.provide(closed))
}

const play = async ({ days, endMillis, file }: YearCommand): Promise<ReadonlyArray<Month>> => {
  const months: Array<Month> = []
  const loop = monitorEventLoopDelay({ resolution: 5 })
  let [cpu, work] = [process.cpuUsage(), 0]
  const look = () => {
    const [used, resident] = [process.cpuUsage(cpu), process.memoryUsage().rss]
    const longestStopMillis = loop.max / 1e6
    collect()
    months.push({
      rows: rowsOf(file),
      databaseMiB: statSync(file).size / MIB,
      logMiB: statSync(`${file}-wal`).size / MIB,
      residentMiB: resident / MIB,
      heapMiB: process.memoryUsage().heapUsed / MIB,
      cpuSeconds: (used.user + used.system) / 1e6,
      longestStopMillis,
    })
    loop.reset()
    cpu = process.cpuUsage()
  }
  const program = Effect.gen(function* () {
    const [ingest, admission] = [yield* Ingest, yield* Admission]
    const hosts = Array.from({ length: AGENTS }, (_, index) => new Host(index, ingest))
    for (const host of hosts) yield* host.heartbeat
    yield* admission.acceptAll({ includeRotation: false })
    loop.enable()
    for (const host of hosts) yield* Effect.forkScoped(host.live(days * 24))
    while (months.length < days / MONTH_DAYS)
      yield* Effect.andThen(Effect.sleep(MONTH_DAYS * DAY_MILLIS), Effect.sync(look))
  })
  const service = Tocsin.layer({
    storage: storageOf(file, (change) => void (work += change)),
    notifiers: Layer.succeed(Notifiers, new Map([[webhook.kind, webhook]])),
    rules: RULES,
  })
  const time = new VirtualTime()
  const played = Effect.scoped(Effect.provide(program, service)).pipe(
    Effect.provideService(IdlePause, (every) => Effect.sleep(Duration.max(every, LOOK_EVERY))),
    Effect.provideService(References.MinimumLogLevel, "Warn"),
  )
  const clock = time.clock(() => endMillis - days * DAY_MILLIS - START_MILLIS)
  await time.run(Effect.orDie(played), clock, () => work > 0)
  return months
}

answerCommands<YearCommand, ReadonlyArray<Month>>(play)

import { existsSync, mkdtempSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import { until } from "../processes/until.ts"
import { isRefused } from "../processes/RawConnection.ts"
import { at, EVERYWHERE, type Fault, reacting, type Stage } from "./Fault.ts"

/** The exit codes of `tocsin doctor` when nothing is broken. */
const UNBROKEN: ReadonlySet<number | null> = new Set([0, 6])

const migrateInPieces = Effect.fnUntraced(function* (stage: Stage) {
  const place = yield* stage.anyPlace
  const data = mkdtempSync(join(place.folder, "empty-"))
  const environment = {
    SERVICE_PORT: "0",
    SERVICE_DATA_DIR: data,
    ...(stage.postgres !== undefined && { DATABASE_URL: yield* stage.postgres.database }),
  }
  for (let start = 0; start < 5; start++) {
    const { kill } = yield* place.launch({ environment })
    yield* stage.anyMoment(1_000)
    yield* kill
  }
  const last = yield* place.launch({ environment })
  yield* Effect.raceFirst(
    until(
      "the migrated server listens",
      Effect.sync(() => last.output.stderr.includes("Tocsin listens on")),
    ),
    Effect.flatMap(last.ended, () => Effect.die(new Error(`it did not start: ${last.output.stderr}`))),
  )
  yield* last.stop
  const { ended, output } = yield* place.launch({ environment, args: ["doctor"] })
  const { code } = yield* ended
  if (!UNBROKEN.has(code)) return yield* Effect.die(new Error(`the doctor finds: ${output.stdout}`))
})

const killBackup = Effect.fnUntraced(function* (stage: Stage) {
  const place = yield* stage.anyPlace
  const file = join(mkdtempSync(join(place.folder, "backup-")), "tocsin.db")
  const backup = yield* place.launch({ args: ["backup", file] })
  yield* stage.anyMoment(1_000)
  if (stage.random() < 0.5) yield* backup.kill
  else yield* place.process().kill
  yield* backup.ended
  if (existsSync(file)) {
    const database = new DatabaseSync(file, { readOnly: true })
    const { integrity_check } = database.prepare("PRAGMA integrity_check").get() ?? {}
    database.close()
    if (integrity_check !== "ok") return yield* Effect.die(new Error("a damaged backup has its name"))
  }
  yield* stage.isOver
  if (yield* isRefused(place.port)) yield* place.start
})

/** Faults of the server's process. */
export const processFaults: ReadonlyArray<Fault> = [
  {
    name: "kill -9 under load",
    cause: "SIGKILL at a random moment, then a start",
    seen: "Requests under way fail and are repeated. A notification that was being sent is sent again.",
    setups: EVERYWHERE,
    rounds: 10,
    prepare: at(
      Effect.fnUntraced(function* (stage) {
        const place = yield* stage.anyPlace
        yield* place.process().kill
        yield* stage.isOver
        yield* place.start
      }),
    ),
  },
  {
    name: "SIGTERM, and another",
    cause: "SIGTERM, a second one up to 1.2 s after the port is closed, then a start",
    seen: "Requests under way are answered. The port is closed until the next start.",
    setups: EVERYWHERE,
    rounds: 5,
    prepare: at(
      Effect.fnUntraced(function* (stage) {
        const place = yield* stage.anyPlace
        yield* place.process().signal("SIGTERM")
        yield* until("the port is closed", isRefused(place.port))
        yield* stage.anyMoment(1_200)
        yield* place.process().stop
        yield* stage.isOver
        yield* place.start
      }),
    ),
  },
  {
    name: "kill during start",
    cause: "SIGKILL five times up to 1 s after a start, then a start",
    seen: "The server is down until a start is left to finish.",
    setups: EVERYWHERE,
    rounds: 3,
    prepare: at(
      Effect.fnUntraced(function* (stage) {
        const place = yield* stage.anyPlace
        yield* place.process().kill
        for (let start = 0; start < 5; start++) {
          const { kill } = yield* place.launch()
          yield* stage.anyMoment(1_000)
          yield* kill
        }
        yield* stage.isOver
        yield* place.start
      }),
    ),
  },
  {
    name: "kill during the first migration",
    cause:
      "next to the loaded server, one on an empty database: SIGKILL five times up to 1 s after its start, then a start and `tocsin doctor`",
    seen: "Nothing: the next start finishes the migration.",
    setups: ["sqlite", "postgres"],
    rounds: 3,
    prepare: at(migrateInPieces),
  },
  {
    name: "kill during a checkpoint",
    cause: "SIGTERM, and SIGKILL as soon as the last checkpoint writes into the database, then a start",
    seen: "Requests under way fail and are repeated.",
    setups: ["sqlite"],
    rounds: 10,
    prepare: at(
      Effect.fnUntraced(function* (stage) {
        const place = yield* stage.anyPlace
        const changedAt = Effect.sync(() => statSync(join(place.folder, "data/tocsin.db")).mtimeMs)
        const before = yield* changedAt
        const { ended, kill, signal } = place.process()
        yield* signal("SIGTERM")
        const checkpoint = Effect.map(changedAt, (now) => now !== before)
        yield* Effect.raceFirst(until("the database changes", checkpoint), Effect.asVoid(ended))
        yield* kill
        yield* stage.isOver
        yield* place.start
      }),
    ),
  },
  {
    name: "kill during a backup",
    cause: "`tocsin backup` of the running server, and SIGKILL to one of the two up to 1 s later",
    seen: "A file has the name of the backup only once it is complete and verified.",
    setups: ["sqlite"],
    rounds: 6,
    prepare: at(killBackup),
  },
  {
    name: "kill during delivery",
    cause: "SIGKILL while a receiver that takes 1 s has a notification, then a start",
    seen: "The notification is sent again with the same id once its lease ends.",
    setups: EVERYWHERE,
    rounds: 5,
    prepare: at(
      Effect.fnUntraced(function* (stage) {
        const { receiver } = stage
        yield* reacting(receiver, () => ({ status: 200, afterMillis: 1_000 }))
        const place = yield* stage.anyPlace
        const known = receiver.arrivals.length
        yield* until(
          "a notification is being sent",
          Effect.sync(() => receiver.arrivals.slice(known).some(({ isOver }) => !isOver)),
        )
        yield* place.process().kill
        yield* stage.isOver
        yield* place.start
      }),
    ),
  },
]

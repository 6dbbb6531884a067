import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { dirname } from "node:path"
import { backUp } from "@tocsin/adapter-sqlite/backup/backUp"
import * as Instant from "@tocsin/contract/Instant"
import { sizeText } from "@tocsin/contract/numberText"
import { NEVER_MARKED } from "@tocsin/core/model/ServiceHeartbeatRecord"
import { copiedTables, numberTables } from "@tocsin/core/model/StoredTables"
import type { AnyShape, CopiedRow } from "@tocsin/core/model/TableShape"
import type { CopySource, CopyTarget, StorageError } from "@tocsin/core/ports/Storage"
import { Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import { Flag } from "effect/cli"
import { CommandFailure, refusal, refusedInUse, usageFailure } from "../CommandFailure.ts"
import { type Column, tableText } from "../output/makeTable.ts"
import { Output, writeResult } from "../output/Output.ts"
import { type Step, withProgress } from "../output/withProgress.ts"
import { secretKeysOf, secretKeysText } from "./secretKeys.ts"
import {
  databaseFile,
  ensureDataDirectory,
  placeOfFlag,
  placeOfSettings,
  requireSchema,
  sqlitePlace,
  storageLayer,
  storageName,
  storageOfModule,
  type StoragePlace,
} from "../storage.ts"
import { command } from "./define.ts"
import * as flags from "./flags.ts"
import { commandLogging, settingsOfCommand } from "./UseCases.ts"

/** `tocsin migrate` */
export const migrate = command({
  name: "migrate",
  description: "Create the storage's schema or bring it up to date, as a start of the server does",
  parameters: { json: flags.json },
  run: Effect.fnUntraced(function* ({ json }) {
    const settings = yield* settingsOfCommand
    if (settings.DATABASE_URL === undefined) yield* ensureDataDirectory(settings.SERVICE_DATA_DIR)
    const appliedNow = Effect.suspend(() => {
      const place = placeOfSettings(settings)
      return place === undefined ? Effect.succeed(0) : Effect.map(place.state, ({ applied }) => applied)
    })
    const from = yield* appliedNow
    // Opening a storage migrates it in one transaction; other starts wait for it.
    yield* Effect.scoped(Layer.build(storageLayer(settings))).pipe(Effect.provide(commandLogging(settings)))
    const to = yield* appliedNow
    const name = storageName(settings)
    yield* writeResult(json, { from, to }, () =>
      from === to
        ? `${name} is at schema ${to}, which is current: nothing to do\n`
        : `${name} was migrated from schema ${from} to ${to}\n`,
    )
  }),
})

const without = flags.filter("without", ["numbers"], "Leave out numbers over time")

/** `tocsin backup` */
export const backup = command({
  name: "backup",
  description: "Back up the embedded database into one file while servers use it",
  examples: ['tocsin backup "backups/$(date +%F).db"'],
  parameters: {
    file: flags.argument("FILE", "File to write the backup to"),
    force: flags.flag("force", "Replace an existing file once the backup is complete"),
    without,
    progress: flags.progress,
    json: flags.json,
  },
  run: Effect.fnUntraced(function* ({ file, force, progress, json, without: omitted }) {
    const settings = yield* settingsOfCommand
    if (settings.DATABASE_URL !== undefined) {
      return yield* refusal("this command backs up SQLite only: for PostgreSQL, use pg_dump")
    }
    if (storageOfModule(settings) !== undefined) {
      return yield* refusal("this command backs up SQLite only: use tocsin copy --from extension")
    }
    const source = databaseFile(settings)
    if (existsSync(file) && !force)
      return yield* refusal(`${file} already exists: name another file, or use --force`)
    if (!existsSync(dirname(file)))
      return yield* new CommandFailure({
        exit: "storage",
        message: `there is no folder ${dirname(file)}: create it, or name another file`,
      })
    const { bytes, schema } = yield* withProgress({ asLines: progress }, ({ report, enter }) =>
      backUp({
        source,
        target: file,
        without: omitted === undefined ? [] : numberTables,
        onProgress: (pages) => report({ ...pages, of: "pages, copying" }),
        beforeCheck: enter({ done: 0, of: "checking the copy" }),
      }).pipe(refusedInUse),
    )
    const howToRestore =
      "to restore it, stop the server, delete tocsin.db-wal and tocsin.db-shm, and replace tocsin.db with it"
    const keys = yield* secretKeysOf(sqlitePlace(source))
    yield* writeResult(
      json,
      { file, bytes, schema, ...(keys.length > 0 && { secrets_keys: keys }) },
      () =>
        `${file} contains all of ${source}${omitted === undefined ? "" : " but its numbers over time"}, verified, ${sizeText(bytes)}: ${howToRestore}\n${secretKeysText(keys)}`,
    )
  }),
})

/** A copied table; both sides have the same values. */
interface CopiedTableReport {
  readonly table: string
  readonly rows: number
  /** SHA-256 over all rows in the order of their key, in a form that all storages share. */
  readonly sha256: string
}

/** The target does not contain what was written: a defect, or a broken disk. */
class CopyDiffers extends Schema.TaggedError<CopyDiffers>()("CopyDiffers", {
  message: Schema.String,
}) {}

type Report = (step: Step) => void

interface Sides {
  readonly source: CopySource
  readonly target: CopyTarget
}

/** Rows in a form that all storages share. Values of one column have one type, so 1 never equals "1". */
const textOf = (rows: ReadonlyArray<CopiedRow>): string =>
  rows
    .map((row) => `${JSON.stringify(row, (_, value) => (typeof value === "bigint" ? `${value}` : value))}\n`)
    .join("")

const digestOf = Effect.fnUntraced(function* (
  table: AnyShape,
  rows: CopySource["rows"],
  onRows: (rows: ReadonlyArray<CopiedRow>) => Effect.Effect<void, StorageError>,
) {
  const hash = createHash("sha256")
  let count = 0
  yield* Stream.runForEach(rows(table), (piece) =>
    Effect.suspend(() => {
      count += piece.length
      hash.update(textOf(piece))
      return Effect.andThen(onRows(piece), Effect.yieldNow)
    }),
  )
  return { table: table.name, rows: count, sha256: hash.digest("hex") } satisfies CopiedTableReport
})

/** The service heartbeat is not copied: no server has run on the copy. */
const withoutSignOfLife = ({ name, columns }: AnyShape, rows: ReadonlyArray<CopiedRow>) => {
  if (name !== "service_heartbeat") return rows
  const at = Object.keys(columns).indexOf("beat_at")
  return rows.map((row) => row.with(at, NEVER_MARKED))
}

const copyTables = Effect.fnUntraced(function* (
  tables: ReadonlyArray<AnyShape>,
  { source, target }: Sides,
  report: Report,
) {
  const counts = yield* Effect.forEach(tables, source.count)
  // Every row is written once, and read back once.
  const total = 2 * counts.reduce((sum, count) => sum + count, 0)
  let done = 0
  const pass = (rows: ReadonlyArray<CopiedRow>, of: string) =>
    Effect.sync(() => {
      done += rows.length
      report({ done, total, of })
    })
  const written: Array<CopiedTableReport> = []
  for (const table of tables) {
    const write = (rows: ReadonlyArray<CopiedRow>) =>
      Effect.andThen(target.write(table, rows), pass(rows, `rows, copying ${table.name}`))
    const rows: CopySource["rows"] = (of) =>
      Stream.map(source.rows(of), (piece) => withoutSignOfLife(of, piece))
    written.push(yield* digestOf(table, rows, write))
  }
  yield* target.setLastSeq(yield* source.lastSeq)
  for (const [index, table] of tables.entries()) {
    const found = yield* digestOf(table, target.rows, (rows) => pass(rows, `rows, verifying ${table.name}`))
    const expected = written[index]
    if (found.rows === expected?.rows && found.sha256 === expected.sha256) continue
    return yield* new CopyDiffers({
      message: `table ${table.name} differs from its source after the copy (${found.rows} of ${expected?.rows} rows): the copy was discarded; check the target's disk, and report this`,
    })
  }
  return written
})

/**
 * Copies one snapshot of a storage into an empty one and verifies it. The target keeps all of it or
 * nothing, so an interrupted run can be repeated.
 */
const copyStorage = (tables: ReadonlyArray<AnyShape>, from: StoragePlace, to: StoragePlace, report: Report) =>
  to.withTarget((target) => from.withSource((source) => copyTables(tables, { source, target }, report)))

const COLUMNS: ReadonlyArray<Column<CopiedTableReport>> = [
  { title: "TABLE", cell: ({ table }) => table },
  { title: "ROWS", cell: ({ rows }) => String(rows), align: "right" },
  { title: "SHA-256, THE SAME ON BOTH SIDES", cell: ({ sha256 }) => sha256 },
]

const currentPlace = Effect.gen(function* () {
  const place = placeOfSettings(yield* settingsOfCommand)
  return (
    place ??
    (yield* usageFailure("DATABASE_URL is memory:, which cannot be copied: name the source with --from"))
  )
})

/** A server leaves a service heartbeat every five seconds at the latest. */
const LONGEST_SILENCE = Duration.seconds(6)
const BETWEEN_LOOKS = Duration.seconds(1)

/** Whether a server uses the storage: its service heartbeat changes within seconds. */
const isServed = Effect.fnUntraced(function* (place: StoragePlace, beatBefore: Instant.Instant | undefined) {
  const until = Instant.plus(yield* Instant.now, LONGEST_SILENCE)
  for (;;) {
    const { serviceHeartbeatAt } = yield* place.state
    if (serviceHeartbeatAt !== beatBefore) return true
    const now = yield* Instant.now
    // The server that left an old service heartbeat has ended.
    if (now > until || serviceHeartbeatAt === undefined || serviceHeartbeatAt < Instant.minus(now, OLD))
      return false
    yield* Effect.sleep(BETWEEN_LOOKS)
  }
})

/** More than two clocks may differ by. */
const OLD = Duration.minutes(1)

const urlFlag = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar("URL"))

/** `tocsin copy` */
export const copy = command({
  name: "copy",
  description:
    "Copy a snapshot of one storage into another, empty one: all or nothing, verified on both sides.\n" +
    "  Stop the server first: the copy lacks later changes.",
  short: "Copy everything from one storage into another, empty one",
  examples: [
    { command: "tocsin copy --to env:NEW_DATABASE_URL", description: "From SQLite to PostgreSQL" },
    { command: "tocsin copy --from env:DATABASE_URL --to sqlite:./data/tocsin.db", description: "And back" },
  ],
  parameters: {
    from: urlFlag(
      "from",
      "Source: sqlite:FILE, postgres://…, or env:NAME (default: the storage of the settings)",
    ).pipe(Flag.optional),
    to: urlFlag("to", "Target, in the same forms: a file that does not exist, or an empty database"),
    without,
    progress: flags.progress,
    json: flags.json,
  },
  run: Effect.fnUntraced(function* ({ from: given, to: target, without: omitted, progress, json }) {
    const output = yield* Output
    const from = Option.isSome(given) ? yield* placeOfFlag("--from", given.value) : yield* currentPlace
    const to = yield* placeOfFlag("--to", target)
    const { serviceHeartbeatAt } = yield* requireSchema(from)
    const tables = yield* withProgress({ asLines: progress }, ({ report }) =>
      copyStorage(
        omitted === undefined ? copiedTables : copiedTables.filter((table) => !numberTables.includes(table)),
        from,
        to,
        report,
      ),
    ).pipe(refusedInUse)
    const keys = yield* secretKeysOf(to)
    yield* writeResult(
      json,
      { from: from.name, to: to.name, tables, ...(keys.length > 0 && { secrets_keys: keys }) },
      () =>
        tableText(COLUMNS, tables, output) +
        `copied ${from.name} into ${to.name}: start the server there, with the same SERVICE_KEY_PEPPER\n${secretKeysText(keys)}`,
    )
    if (yield* isServed(from, serviceHeartbeatAt)) {
      return yield* new CommandFailure({
        exit: "attention",
        message: `a server is writing to ${from.name}, and the copy lacks what it wrote since the copy began: stop the server, and copy again into an empty storage`,
      })
    }
  }),
})

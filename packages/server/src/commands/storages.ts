import { existsSync } from "node:fs"
import process from "node:process"
import { basename, dirname } from "node:path"
import { backUp } from "@tocsin/adapter-sqlite/backup/backUp"
import * as Instant from "@tocsin/contract/formats/Instant"
import { sizeText } from "@tocsin/contract/formats/numberText"
import { copiedTables, numberTables } from "@tocsin/core/lists/StoredTables"
import { Duration, Effect, Layer, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandFailure, refusal, refusedInUse, usageFailure } from "../CommandFailure.ts"
import { type Column, tableText } from "../output/texts.ts"
import { Output, writeResult } from "../output/Output.ts"
import { withProgress } from "../output/withProgress.ts"
import { type CopiedTable, copyBetween } from "tocsin/internal/storages/copyTables"
import { type CopyEnd, isPlace, sqlitePlace, type StoragePlace } from "tocsin/internal/storages/places"
import { commandSettings } from "../settings/checkedSettings.ts"
import type { Settings } from "../settings/Settings.ts"
import { secretKeysOf, secretKeysText } from "../features/receivers/secretKeys.ts"
import {
  databaseFile,
  endOfFlag,
  ensureDataDirectory,
  EXTENSION,
  noData,
  placeOfSettings,
  requireSchema,
  storageLayer,
  storageName,
  storageOfModule,
} from "../storage.ts"
import { command } from "./define.ts"
import * as flags from "./flags.ts"
import { commandLogging, settingsOfCommand } from "./UseCases.ts"

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
      return yield* refusal(
        "this command backs up SQLite only: use tocsin copy --from extension --to sqlite:FILE",
      )
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

const COLUMNS: ReadonlyArray<Column<CopiedTable>> = [
  { title: "TABLE", cell: ({ table }) => table },
  { title: "ROWS", cell: ({ rows }) => String(rows), align: "right" },
  { title: "SHA-256, THE SAME ON BOTH SIDES", cell: ({ sha256 }) => sha256 },
]

/** The storage of the settings; where that of a module is apart, the one beside it. */
const currentPlace = Effect.fnUntraced(function* (settings: Settings, isApart: boolean) {
  const place = placeOfSettings(isApart ? { ...settings, extensions: undefined } : settings)
  const why =
    storageOfModule(settings) === undefined
      ? "DATABASE_URL is memory:, which cannot be copied: name the source with --from"
      : "the storage is that of a module: name the source with --from, such as --from extension"
  return place ?? (yield* usageFailure(why))
})

/** Requires rows in the storage of a module. */
const requireRows = Effect.fnUntraced(function* (from: CopyEnd) {
  const found = yield* refusedInUse(
    from.withSource(({ count }) =>
      Effect.findFirst(copiedTables, (table) => Effect.map(count(table), (rows) => rows > 0)),
    ),
  )
  if (Option.isNone(found)) return yield* noData(from.name)
  return undefined
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

const shellWord = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`

/** How to start the server on a copy: its own file in a data folder has one name. */
const startText = (file: string | undefined, isApart: boolean): string => {
  if (isApart) return "start the server with the same SERVICE_EXTENSIONS"
  if (file === undefined) return "start the server there"
  const [first, folder] =
    basename(file) === "tocsin.db"
      ? ["", shellWord(dirname(file))]
      : ["move it into a folder as tocsin.db, then ", "FOLDER"]
  return `${first}start the server there with SERVICE_DATA_DIR=${folder} tocsin, without DATABASE_URL and without a module's storage`
}

/** More than two clocks may differ by. */
const OLD = Duration.minutes(1)

const urlFlag = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar("URL"))

export const copy = command({
  name: "copy",
  description:
    "Copy a snapshot of one storage into another, empty one: all or nothing, verified on both sides.\n" +
    "  Stop the server first: the copy lacks later changes.",
  short: "Copy everything from one storage into another, empty one",
  examples: [
    { command: "tocsin copy --to env:NEW_DATABASE_URL", description: "From SQLite to PostgreSQL" },
    { command: "tocsin copy --from env:DATABASE_URL --to sqlite:./data/tocsin.db", description: "And back" },
    {
      command: "tocsin copy --to extension",
      description: "Into the storage of a module of SERVICE_EXTENSIONS",
    },
  ],
  parameters: {
    from: urlFlag(
      "from",
      "Source: sqlite:FILE, postgres://…, env:NAME, or extension for the storage of a module (default: the storage of the settings, unless it is that of a module)",
    ).pipe(Flag.optional),
    to: urlFlag("to", "Target, in the same forms: a file that does not exist, or an empty database"),
    without,
    progress: flags.progress,
    json: flags.json,
  },
  run: Effect.fnUntraced(function* ({ from: given, to: target, without: omitted, progress, json }) {
    const output = yield* Output
    const isApart = target === EXTENSION || Option.contains(given, EXTENSION)
    // Two addresses need no settings.
    const settings = Effect.suspend(() => Effect.fromResult(commandSettings(process.env, isApart)))
    const from = yield* Option.match(given, {
      onNone: () => Effect.flatMap(settings, (read) => currentPlace(read, isApart)),
      onSome: (address) => endOfFlag("--from", address, settings),
    })
    const to = yield* endOfFlag("--to", target, settings)
    const before = isPlace(from) ? yield* requireSchema(from) : yield* requireRows(from)
    const tables = yield* withProgress({ asLines: progress }, ({ report }) =>
      copyBetween(from, to, { report, without: omitted }),
    ).pipe(refusedInUse)
    const keys = yield* secretKeysOf(to)
    yield* writeResult(
      json,
      { from: from.name, to: to.name, tables, ...(keys.length > 0 && { secrets_keys: keys }) },
      () =>
        tableText(COLUMNS, tables, output) +
        `copied ${from.name} into ${to.name}: ${startText(to.file, target === EXTENSION)}, with the same SERVICE_KEY_PEPPER\n${secretKeysText(keys)}`,
    )
    if (isPlace(from) && (yield* isServed(from, before?.serviceHeartbeatAt))) {
      return yield* new CommandFailure({
        exit: "attention",
        message: `a server is writing to ${from.name}, and the copy lacks what it wrote since the copy began: stop the server, and copy again into an empty storage`,
      })
    }
  }),
})

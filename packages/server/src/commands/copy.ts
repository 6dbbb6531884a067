import * as Instant from "@tocsin/core/contract/Instant"
import { Duration, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { CommandFailure, refusal, usageFailure } from "../CommandFailure.ts"
import { type CopiedTableReport, copyStorage } from "../copy/copyStorage.ts"
import { type Place, placeOf, postgresPlace, sqlitePlace } from "../copy/Place.ts"
import { jsonText } from "../output/jsonText.ts"
import { type Column, makeTable } from "../output/makeTable.ts"
import { Output } from "../output/Output.ts"
import { withProgress } from "../output/withProgress.ts"
import { databaseFile } from "../storage.ts"
import * as flags from "./flags.ts"
import { settingsOfCommand } from "./UseCases.ts"

const COLUMNS: ReadonlyArray<Column<CopiedTableReport>> = [
  { title: "TABLE", cell: ({ table }) => table },
  { title: "ROWS", cell: ({ rows }) => String(rows), align: "right" },
  { title: "SHA-256, THE SAME ON BOTH SIDES", cell: ({ sha256 }) => sha256 },
]

/** The storage of the environment's settings. */
const presentPlace = Effect.gen(function* () {
  const settings = yield* settingsOfCommand
  if (settings.DATABASE_URL === undefined) return sqlitePlace(databaseFile(settings))
  if (settings.DATABASE_URL.kind === "postgres") return postgresPlace(settings.DATABASE_URL.url)
  return yield* usageFailure("DATABASE_URL is memory:, which cannot be copied: name the source with --from")
})

const requirePresentSchema = Effect.fnUntraced(function* (from: Place) {
  const state = yield* from.state
  const { applied, known } = state
  if (applied === 0) {
    return yield* new CommandFailure({
      exit: "storage",
      message: `found no Tocsin data in ${from.name}: name the storage to read with --from`,
    })
  }
  if (applied < known) {
    const message = `${from.name} is at schema ${applied} of ${known}: run tocsin migrate on it first`
    return yield* new CommandFailure({ exit: "storage", message })
  }
  return state
})

/** A server leaves a mark every five seconds at the latest. */
const LONGEST_SILENCE = Duration.seconds(6)
const BETWEEN_LOOKS = Duration.seconds(1)

/** Whether a server works on a storage: then its sign of life changes within seconds. */
const isServed = Effect.fnUntraced(function* (place: Place, markedBefore: Instant.Instant | undefined) {
  const until = Instant.plus(yield* Instant.now, LONGEST_SILENCE)
  for (;;) {
    const { markedAt } = yield* place.state
    if (markedAt !== markedBefore) return true
    const now = yield* Instant.now
    // One that is old already is no server's that still runs.
    if (now > until || markedAt === undefined || markedAt < Instant.minus(now, OLD)) return false
    yield* Effect.sleep(BETWEEN_LOOKS)
  }
})

/** By clocks that may differ a little. */
const OLD = Duration.minutes(1)

/** `tocsin copy` */
export const copy = Command.make(
  "copy",
  {
    from: Flag.String("from").pipe(
      Flag.withDescription(
        "Where to read: sqlite:FILE, postgres://…, or env:NAME (default: as the settings say)",
      ),
      Flag.withMetavar("URL"),
      Flag.optional,
    ),
    to: Flag.String("to").pipe(
      Flag.withDescription(
        "Where to write: the same forms; a file that is not there yet, or an empty database",
      ),
      Flag.withMetavar("URL"),
    ),
    progress: flags.progress,
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ from: given, to: target, progress, json }) {
    const output = yield* Output
    const from = Option.isSome(given) ? yield* placeOf("--from", given.value) : yield* presentPlace
    const to = yield* placeOf("--to", target)
    const { markedAt } = yield* requirePresentSchema(from)
    const tables = yield* withProgress({ asLines: progress }, ({ report }) =>
      copyStorage(from, to, report),
    ).pipe(
      Effect.catchTag("StorageError", (error) =>
        Effect.fail(error.reason === "in_use" ? refusal(error.message) : error),
      ),
    )
    const table = makeTable(COLUMNS, tables, output)
    const summary = `copied ${from.name} into ${to.name}: start the server there, with the same SERVICE_KEY_PEPPER\n`
    yield* output.write(
      json
        ? `${jsonText({ from: from.name, to: to.name, tables }, output.columns !== undefined)}\n`
        : table.header + table.lines(tables) + summary,
    )
    if (yield* isServed(from, markedAt)) {
      return yield* new CommandFailure({
        exit: "attention",
        message: `a server is writing to ${from.name}, and the copy lacks what it wrote since the copy began: stop the server, and copy again into an empty storage`,
      })
    }
  }),
).pipe(
  Command.withDescription(
    "Copy everything from one storage into another one that is empty: all of it or nothing, from one moment,\n" +
      "  verified on both sides. Stop the server first, or what it takes meanwhile is not in the copy.",
  ),
  Command.withShortDescription("Copy everything from one storage into another, empty one"),
  Command.withExamples([
    { command: "tocsin copy --to env:NEW_DATABASE_URL", description: "From SQLite to PostgreSQL" },
    { command: "tocsin copy --from env:DATABASE_URL --to sqlite:./data/tocsin.db", description: "And back" },
  ]),
)

import * as Instant from "@tocsin/contract/Instant"
import { Duration, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { CommandFailure, refusedInUse, usageFailure } from "../CommandFailure.ts"
import { type CopiedTableReport, copyStorage } from "../copy/copyStorage.ts"
import { placeOfFlag, placeOfSettings, requireSchema, type StoragePlace } from "../copy/StoragePlace.ts"
import { type Column, tableText } from "../output/makeTable.ts"
import { Output, writeResult } from "../output/Output.ts"
import { withProgress } from "../output/withProgress.ts"
import * as flags from "./flags.ts"
import { settingsOfCommand } from "./UseCases.ts"

const COLUMNS: ReadonlyArray<Column<CopiedTableReport>> = [
  { title: "TABLE", cell: ({ table }) => table },
  { title: "ROWS", cell: ({ rows }) => String(rows), align: "right" },
  { title: "SHA-256, THE SAME ON BOTH SIDES", cell: ({ sha256 }) => sha256 },
]

/** The storage of the environment's settings. */
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

/** `tocsin copy` */
export const copy = Command.make(
  "copy",
  {
    from: Flag.String("from").pipe(
      Flag.withDescription(
        "Source: sqlite:FILE, postgres://…, or env:NAME (default: the storage of the settings)",
      ),
      Flag.withMetavar("URL"),
      Flag.optional,
    ),
    to: Flag.String("to").pipe(
      Flag.withDescription("Target, in the same forms: a file that does not exist, or an empty database"),
      Flag.withMetavar("URL"),
    ),
    progress: flags.progress,
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ from: given, to: target, progress, json }) {
    const output = yield* Output
    const from = Option.isSome(given) ? yield* placeOfFlag("--from", given.value) : yield* currentPlace
    const to = yield* placeOfFlag("--to", target)
    const { serviceHeartbeatAt } = yield* requireSchema(from)
    const tables = yield* withProgress({ asLines: progress }, ({ report }) =>
      copyStorage(from, to, report),
    ).pipe(refusedInUse)
    yield* writeResult(
      json,
      { from: from.name, to: to.name, tables },
      () =>
        tableText(COLUMNS, tables, output) +
        `copied ${from.name} into ${to.name}: start the server there, with the same SERVICE_KEY_PEPPER\n`,
    )
    if (yield* isServed(from, serviceHeartbeatAt)) {
      return yield* new CommandFailure({
        exit: "attention",
        message: `a server is writing to ${from.name}, and the copy lacks what it wrote since the copy began: stop the server, and copy again into an empty storage`,
      })
    }
  }),
).pipe(
  Command.withDescription(
    "Copy a snapshot of one storage into another, empty one: all or nothing, verified on both sides.\n" +
      "  Stop the server first: the copy lacks later changes.",
  ),
  Command.withShortDescription("Copy everything from one storage into another, empty one"),
  Command.withExamples([
    { command: "tocsin copy --to env:NEW_DATABASE_URL", description: "From SQLite to PostgreSQL" },
    { command: "tocsin copy --from env:DATABASE_URL --to sqlite:./data/tocsin.db", description: "And back" },
  ]),
)

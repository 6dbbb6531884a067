import { existsSync } from "node:fs"
import { dirname } from "node:path"
import { backUp } from "@tocsin/adapter-sqlite/backup/backUp"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CommandFailure, refusal } from "../CommandFailure.ts"
import { jsonText } from "../output/jsonText.ts"
import { Output } from "../output/Output.ts"
import { withProgress } from "../output/withProgress.ts"
import { databaseFile } from "../storage.ts"
import { sizeText } from "./doctor/sizeText.ts"
import * as flags from "./flags.ts"
import { settingsOfCommand } from "./UseCases.ts"

/** `tocsin backup` */
export const backup = Command.make(
  "backup",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("Where the backup goes")),
    force: Flag.Boolean("force").pipe(
      Flag.withDescription("Replace a file of that name, once the backup is whole"),
      Flag.withoutNegation,
      Flag.withDefault(false),
    ),
    progress: flags.progress,
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ file, force, progress, json }) {
    const output = yield* Output
    const settings = yield* settingsOfCommand
    if (settings.DATABASE_URL !== undefined) {
      return yield* refusal("this command backs up SQLite only: for PostgreSQL, use pg_dump")
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
        onProgress: (pages) => report({ ...pages, of: "pages, copying" }),
        beforeCheck: enter({ done: 0, of: "checking the copy" }),
      }).pipe(
        Effect.catchTag("StorageError", (error) =>
          Effect.fail(error.reason === "in_use" ? refusal(error.message) : error),
        ),
      ),
    )
    const howToRestore =
      "to restore it, stop the server, remove tocsin.db-wal and tocsin.db-shm, and put it in place of tocsin.db"
    yield* output.write(
      json
        ? `${jsonText({ file, bytes, schema })}\n`
        : `${file} holds all of ${source}, checked, ${sizeText(bytes)}: ${howToRestore}\n`,
    )
  }),
).pipe(
  Command.withDescription("Back up the embedded database into one file, while servers work on it"),
  Command.withExamples([{ command: 'tocsin backup "backups/$(date +%F).db"' }]),
)

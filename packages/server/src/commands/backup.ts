import { existsSync } from "node:fs"
import { dirname } from "node:path"
import { backUp } from "@tocsin/adapter-sqlite/backup/backUp"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { CommandFailure, refusal, refusedInUse } from "../CommandFailure.ts"
import { writeResult } from "../output/Output.ts"
import { sizeText } from "../output/texts.ts"
import { withProgress } from "../output/withProgress.ts"
import { databaseFile } from "../storage.ts"
import * as flags from "./flags.ts"
import { settingsOfCommand } from "./UseCases.ts"

/** `tocsin backup` */
export const backup = Command.make(
  "backup",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("File to write the backup to")),
    force: flags.flag("force", "Replace an existing file once the backup is complete"),
    progress: flags.progress,
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ file, force, progress, json }) {
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
      }).pipe(refusedInUse),
    )
    const howToRestore =
      "to restore it, stop the server, delete tocsin.db-wal and tocsin.db-shm, and replace tocsin.db with it"
    yield* writeResult(
      json,
      { file, bytes, schema },
      () => `${file} contains all of ${source}, verified, ${sizeText(bytes)}: ${howToRestore}\n`,
    )
  }),
).pipe(
  Command.withDescription("Back up the embedded database into one file while servers use it"),
  Command.withExamples([{ command: 'tocsin backup "backups/$(date +%F).db"' }]),
)

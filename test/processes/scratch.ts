import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Context, Effect, Layer } from "effect"
import { dataFolder } from "../../bench/src/dataFolder.ts"
import { ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { ScratchFolder } from "../storage/ScratchFolder.ts"

/** An empty folder until the scope ends, after the processes that were started in it. */
export const scratchFolder = Effect.map(
  Layer.build(Layer.fresh(ScratchFolder.layer)),
  (services) => Context.get(services, ScratchFolder).path,
)

/** The same with some files. */
export const scratchSite = (files: Readonly<Record<string, string>>) =>
  Effect.tap(scratchFolder, (cwd) =>
    Effect.sync(() => {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
    }),
  )

/** An empty one on a disk: the doctor warns of a folder in memory, and the temporary folder may be there. */
export const scratchFolderOnDisk = Effect.orDie(dataFolder(undefined))

/** An empty PostgreSQL database for as long. */
export const scratchPostgres = Effect.map(
  Effect.orDie(Layer.build(Layer.fresh(ScratchPostgres.layer))),
  Context.get(ScratchPostgres),
)

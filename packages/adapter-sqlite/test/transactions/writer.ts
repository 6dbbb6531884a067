// A process that writes agents into a storage: `node writer.ts FILE PREFIX COUNT [PAGES]`. It prints the name of each one
// after its transaction was answered, or the reason why the storage could not be opened. PAGES: how many pages the log
// holds before a checkpoint.
import { Context, Effect, Layer } from "effect"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { transact } from "@tocsin/testing/transact"
import * as SqliteStorage from "../../src/SqliteStorage.ts"
import { putAgent } from "../ScratchFile.ts"

const CONCURRENCY = 16

const [file = "", prefix = "", count = "0", pages] = process.argv.slice(2)
const log = { checkpointPages: pages === undefined ? undefined : Number(pages) }

const write = Effect.gen(function* () {
  const storage = Context.get(yield* Layer.build(SqliteStorage.layer({ file, log })), Storage)
  yield* Effect.forEach(
    Array.from({ length: Number(count) }, (_, n) => `${prefix}${n}`),
    (name) => Effect.map(transact(storage, putAgent(name)), (reply) => process.stdout.write(`${reply}\n`)),
    { concurrency: CONCURRENCY, discard: true },
  )
})

await Effect.runPromise(
  Effect.catch(Effect.scoped(write), (error) =>
    Effect.sync(() => process.stdout.write(`${error.reason}: ${error.message}\n`)),
  ),
)

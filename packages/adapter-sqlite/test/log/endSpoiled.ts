// A process that ends without closing a database whose log does not read back: `node endSpoiled.ts FILE WAY`. WAY is `exit`
// for an end at once, `natural` for one where nothing is left to do. It prints what the storage says by then.
import { Effect, Scope } from "effect"
import { eventually } from "../eventually.ts"
import { openStorage, putAgent } from "../ScratchFile.ts"
import { pagesInUse, spoil } from "./logInspection.ts"
import { SlowDisk } from "./SlowDisk.ts"
import { transact } from "@tocsin/testing/transact"

const [file = "", way] = process.argv.slice(2)

const disk = new SlowDisk()

await Effect.runPromise(
  Effect.gen(function* () {
    // Never closed.
    const scope = yield* Scope.make()
    const storage = yield* Scope.provide(openStorage(file, { log: { sync: disk.sync } }), scope)
    for (let n = 0; n < 20; n++) yield* transact(storage, putAgent(`kept-${n}`))
    disk.hang()
    yield* Effect.forkDetach(Effect.exit(transact(storage, putAgent("lost"))), { startImmediately: true })
    yield* eventually(
      Effect.sync(() => disk.hanging),
      (count) => count === 1,
    )
    spoil(`${file}-wal`, pagesInUse(file) - 1)
    disk.fail()
    const refused = yield* eventually(Effect.flip(storage.probe), ({ reason }) => reason === "unavailable")
    process.stdout.write(refused.message)
  }),
)

if (way === "exit") process.exit(0)

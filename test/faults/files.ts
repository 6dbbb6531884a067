import { cpSync, openSync, closeSync, renameSync, rmSync, statSync, truncateSync, writeSync } from "node:fs"
import { join } from "node:path"
import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import { at, type Fault, type Place, type Stage } from "./Fault.ts"

const PAGE_BYTES = 4_096

const fileOf = ({ folder }: Place): string => join(folder, "data/tocsin.db")

/** Spoils the file of a stopped server, lets the server meet it, and then restores the copy. */
const spoiled = (spoil: (file: string, random: () => number) => void) =>
  at(
    Effect.fnUntraced(function* (stage: Stage) {
      const place = yield* stage.anyPlace
      const [data, copy] = [join(place.folder, "data"), join(place.folder, "copy")]
      yield* place.process().stop
      cpSync(data, copy, { recursive: true })
      spoil(fileOf(place), stage.random)
      const met = yield* place.launch()
      yield* Effect.timeoutOption(met.ended, "3 seconds")
      yield* met.kill
      rmSync(data, { recursive: true })
      renameSync(copy, data)
      yield* stage.isOver
      yield* place.start
    }),
  )

/** Faults of the database file. */
export const fileFaults: ReadonlyArray<Fault> = [
  {
    name: "a truncated file",
    cause: "the file of a stopped server loses its second half; a start; then the file as it was",
    seen: "The start is refused with a message.",
    setups: ["sqlite"],
    rounds: 2,
    prepare: spoiled((file) =>
      truncateSync(file, PAGE_BYTES * Math.floor(statSync(file).size / PAGE_BYTES / 2)),
    ),
  },
  {
    name: "a damaged page",
    cause: "one page of the file of a stopped server becomes noise; 3 s of load; then the file as it was",
    seen: "Requests that need the page get a 500. The restored file lacks the notifications sent meanwhile: Tocsin sends them again, and they count as wrongly notified here.",
    setups: ["sqlite"],
    rounds: 2,
    prepare: spoiled((file, random) => {
      const pages = statSync(file).size / PAGE_BYTES
      const opened = openSync(file, "r+")
      writeSync(
        opened,
        randomBytes(PAGE_BYTES),
        0,
        PAGE_BYTES,
        PAGE_BYTES * Math.floor(1 + (pages - 1) * random()),
      )
      closeSync(opened)
    }),
  },
  {
    name: "a file swapped under the server",
    cause: "a copy of the database takes the place of the file in use; 3 s of load; SIGKILL and a start",
    seen: "Writes are refused with 500, `/ready` is 503, and the log names the file, until a restart.",
    setups: ["sqlite"],
    rounds: 1,
    prepare: at(
      Effect.fnUntraced(function* (stage: Stage) {
        const place = yield* stage.anyPlace
        const copy = `${fileOf(place)}.copy`
        cpSync(fileOf(place), copy)
        renameSync(copy, fileOf(place))
        yield* Effect.sleep("3 seconds")
        yield* place.process().kill
        yield* stage.isOver
        yield* place.start
      }),
    ),
  },
]

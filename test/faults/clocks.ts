import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { at, type Fault, type Site } from "./Fault.ts"

const PRELOAD = join(import.meta.dirname, "shiftedClock.cjs")

const fileOf = ({ folder }: Pick<Site, "folder">): string => join(folder, "clock")

const setClock = (site: Pick<Site, "folder">, millis: number) =>
  Effect.sync(() => writeFileSync(fileOf(site), String(Math.round(millis))))

/** Starts a server whose clock can be set. */
const withClock = (site: Site, millis: number) =>
  Effect.as(setClock(site, millis), {
    environment: { NODE_OPTIONS: `--require ${PRELOAD}`, FAULTY_CLOCK: fileOf(site) },
  })

/** Faults of clocks, and of replicas that stand still. */
export const clockFaults: ReadonlyArray<Fault> = [
  {
    name: "clocks 5 s apart",
    cause: "three servers whose clocks are 5 s and 10 s ahead of the first one's, for 10 s",
    seen: "Nothing: the database's clock decides.",
    setups: ["three on postgres"],
    rounds: 1,
    prepare: Effect.succeed({
      conditions: (site) => withClock(site, 5_000 * site.index),
      inflict: () => Effect.sleep("10 seconds"),
    }),
  },
  {
    name: "clocks that jump",
    cause: "the clock of one server jumps each second by up to 30 s, forwards and backwards; for 10 s",
    seen: "The history lists results by the time that the server wrote: those of a jump count as out of order here.",
    setups: ["sqlite", "postgres", "three on postgres"],
    rounds: 1,
    prepare: Effect.succeed({
      conditions: (site) => withClock(site, 0),
      inflict: Effect.fnUntraced(function* (stage) {
        for (let second = 0; second < 10; second++) {
          const place = yield* stage.anyPlace
          yield* setClock(place, 60_000 * (stage.random() - 0.5))
          yield* Effect.sleep("1 second")
        }
        yield* Effect.forEach(stage.places, (place) => setClock(place, 0))
        yield* stage.isOver
      }),
    }),
  },
  {
    name: "a replica paused",
    cause: "SIGSTOP to one server for 60 s, while the leases of its notifications end, then SIGCONT",
    seen: "Its clients wait. The others send its notifications once their leases end.",
    setups: ["three on postgres"],
    rounds: 1,
    prepare: at(
      Effect.fnUntraced(function* (stage) {
        const place = yield* stage.anyPlace
        yield* place.process().signal("SIGSTOP")
        yield* Effect.sleep("60 seconds")
        yield* stage.isOver
        yield* place.process().signal("SIGCONT")
      }),
    ),
  },
]

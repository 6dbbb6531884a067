import { execFileSync } from "node:child_process"
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { Effect } from "effect"
import type { Fault, Site } from "./Fault.ts"

const COMPILER = "/usr/bin/cc"
const SOURCE = join(import.meta.dirname, "faultyDisk.c")

type Mode = "works" | "slow" | "hang" | "failing" | "full" | "read-only"

const setMode = ({ folder }: Pick<Site, "folder">, mode: Mode) =>
  Effect.sync(() => writeFileSync(join(folder, "mode"), mode))

/** Has the disk below the data folder change for some seconds. */
const disturbed = (
  fault: Pick<Fault, "name" | "cause" | "seen">,
  mode: Mode,
  seconds: number,
  rounds = 2,
): Fault => ({
  ...fault,
  setups: ["sqlite"],
  rounds,
  missing: () => (existsSync(COMPILER) && process.platform === "linux" ? undefined : "install a C compiler"),
  prepare: Effect.succeed({
    conditions: (site) =>
      Effect.map(setMode(site, "works"), () => {
        const library = join(site.folder, "faultyDisk.so")
        execFileSync(COMPILER, ["-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl"])
        return {
          environment: {
            LD_PRELOAD: library,
            FAULTY_DISK: join(site.folder, "data"),
            FAULTY_DISK_MODE: join(site.folder, "mode"),
          },
        }
      }),
    inflict: Effect.fnUntraced(function* (stage) {
      const [place] = stage.places
      yield* setMode(place, mode)
      yield* Effect.sleep(seconds * 1_000)
      yield* setMode(place, "works")
      yield* stage.isOver
      // A server may end because of what its disk did; then a service manager starts it again.
      yield* stage.revive
    }),
  }),
})

const DISK_MIB = 24

/** A small disk of its own below the data folder. */
const smallDisk = ({ folder }: Site) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const data = join(folder, "data")
      mkdirSync(data)
      execFileSync("/bin/mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", data])
      return data
    }),
    (data) => Effect.sync(() => void execFileSync("/bin/umount", ["-l", data])),
  )

const fill = (data: string): void => {
  const file = openSync(join(data, "filler"), "w")
  try {
    for (let written = 0; written < DISK_MIB * 256; written++) writeSync(file, Buffer.alloc(4096))
  } catch {
    // It is full.
  } finally {
    closeSync(file)
  }
}

/** Faults of the disk under SQLite. */
export const diskFaults: ReadonlyArray<Fault> = [
  {
    name: "disk full",
    cause: `a tmpfs of ${DISK_MIB} MiB, filled for 5 s`,
    seen: "Requests are answered with 500, and `/ready` with 503, until there is room.",
    setups: ["sqlite"],
    rounds: 2,
    missing: () =>
      process.getuid?.() === 0 && process.platform === "linux" ? undefined : "only root can mount a tmpfs",
    prepare: Effect.succeed({
      conditions: (site) => Effect.as(smallDisk(site), {}),
      inflict: Effect.fnUntraced(function* (stage) {
        const data = join(stage.places[0].folder, "data")
        fill(data)
        yield* Effect.sleep("5 seconds")
        rmSync(join(data, "filler"))
        yield* stage.isOver
        yield* stage.revive
      }),
    }),
  },
  disturbed(
    {
      name: "writes refused as on a full disk",
      cause: "each write fails with ENOSPC for 5 s",
      seen: "Requests are answered with 500, and `/ready` with 503, until writes succeed.",
    },
    "full",
    5,
  ),
  disturbed(
    {
      name: "disk read-only",
      cause: "each write fails with EROFS for 5 s, as after a remount",
      seen: "Requests are answered with 500, and `/ready` with 503.",
    },
    "read-only",
    5,
  ),
  disturbed(
    {
      name: "slow syncs",
      cause: "each sync takes 200 ms longer, for 10 s",
      seen: "Each answer takes longer.",
    },
    "slow",
    10,
    1,
  ),
  disturbed(
    {
      name: "disk hangs",
      cause: "no write and no sync returns for 10 s",
      seen: "Requests wait; after `SERVICE_STORAGE_TIMEOUT` they are answered with 500.",
    },
    "hang",
    10,
    1,
  ),
  disturbed(
    {
      name: "failing syncs",
      cause: "each sync fails with EIO for 3 s; what was written stays readable",
      seen: "Requests are answered with 500. The server starts over from what is on the disk.",
    },
    "failing",
    3,
  ),
]

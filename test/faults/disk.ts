import { execFileSync } from "node:child_process"
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { Effect } from "effect"
import type { Fault, Site, Stage } from "./Fault.ts"
import { type DiskMode, faultyDisk, faultyDiskObstacle, setDiskMode } from "./FaultyDisk.ts"

const setMode = ({ folder }: Pick<Site, "folder">, mode: DiskMode) =>
  Effect.sync(() => setDiskMode(folder, mode))

interface Disturbance {
  readonly mode: DiskMode
  readonly seconds: number
  readonly rounds?: number
  /** Has the servers work again. A server may end because of what its disk did; a service manager starts it again. */
  readonly recovery?: (stage: Stage) => Effect.Effect<void>
}

/** Has the disk below the data folder change for some seconds. */
const disturbed = (
  fault: Pick<Fault, "name" | "cause" | "seen">,
  { mode, seconds, rounds = 2, recovery = ({ revive }) => revive }: Disturbance,
): Fault => ({
  ...fault,
  setups: ["sqlite"],
  rounds,
  missing: faultyDiskObstacle,
  prepare: Effect.succeed({
    conditions: ({ folder }) => Effect.sync(() => ({ environment: faultyDisk(folder) })),
    inflict: Effect.fnUntraced(function* (stage) {
      const [place] = stage.places
      yield* setMode(place, mode)
      yield* Effect.sleep(seconds * 1_000)
      yield* setMode(place, "works")
      yield* stage.isOver
      yield* recovery(stage)
    }),
  }),
})

/** The server must end, however long its last requests take. */
const restartEnded = ({ places: [place] }: Stage) => Effect.andThen(place.process().ended, place.start)

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
    { mode: "full", seconds: 5 },
  ),
  disturbed(
    {
      name: "disk read-only",
      cause: "each write fails with EROFS for 5 s, as after a remount",
      seen: "Requests are answered with 500, and `/ready` with 503.",
    },
    { mode: "read-only", seconds: 5 },
  ),
  disturbed(
    {
      name: "slow syncs",
      cause: "each sync takes 200 ms longer, for 10 s",
      seen: "Each answer takes longer.",
    },
    { mode: "slow", seconds: 10, rounds: 1 },
  ),
  disturbed(
    {
      name: "disk hangs",
      cause: "no write and no sync returns for 10 s",
      seen: "Requests wait; after `SERVICE_STORAGE_TIMEOUT` they are answered with 500.",
    },
    { mode: "hang", seconds: 10, rounds: 1 },
  ),
  disturbed(
    {
      name: "failing syncs",
      cause: "each sync fails with EIO for 3 s; what was written stays readable",
      seen: "Requests are answered with 500. The server ends with exit code 1; the next start verifies its log.",
    },
    { mode: "failing", seconds: 3, recovery: restartEnded },
  ),
]

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { Effect } from "effect"
import { BenchFailure } from "../BenchFailure.ts"

const ROOT = "/sys/fs/cgroup"
const PERIOD_MICROS = 100_000
const QUOTA_MICROS = 25_000
const BYTES = 268_435_456

/** The files of each group, by its folder. */
const SECOND = {
  "": { "cpu.max": `${QUOTA_MICROS} ${PERIOD_MICROS}`, "memory.max": BYTES, "memory.swap.max": 0 },
}
const FIRST = {
  cpu: { "cpu.cfs_period_us": PERIOD_MICROS, "cpu.cfs_quota_us": QUOTA_MICROS },
  memory: { "memory.limit_in_bytes": BYTES, "memory.memsw.limit_in_bytes": BYTES },
}

/** A quarter of a core and 256 MiB without swap. */
export interface SmallHost {
  /** The version of the kernel's control groups. */
  readonly version: 1 | 2
  /** Folders of groups that a process enters. */
  readonly groups: ReadonlyArray<string>
}

/** Control groups for the processes of a small host, until the scope closes. Needs root. */
export const smallHost = Effect.gen(function* () {
  const controllers = join(ROOT, "cgroup.controllers")
  const isSecond = existsSync(controllers) && /cpu.*memory/.test(readFileSync(controllers, "utf8"))
  const name = `tocsin-bench-${process.pid}`
  const make = (): SmallHost => ({
    version: isSecond ? 2 : 1,
    groups: Object.entries(isSecond ? SECOND : FIRST).map(([controller, limits]) => {
      const folder = join(ROOT, controller, name)
      mkdirSync(folder)
      for (const [file, value] of Object.entries(limits)) writeFileSync(join(folder, file), String(value))
      return folder
    }),
  })
  return yield* Effect.acquireRelease(
    Effect.try({
      try: make,
      catch: (cause) =>
        new BenchFailure({ message: `control groups cannot be made: run as root (${String(cause)})` }),
    }),
    ({ groups }) => Effect.sync(() => groups.forEach((folder) => rmdirSync(folder))),
  )
})

/** A program that enters the groups and becomes `command`, so that its process ID stays. */
export const enter = (
  groups: ReadonlyArray<string>,
  command: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  if (groups.length === 0) return command
  const entered = groups.map((folder) => `echo $$ > ${folder}/cgroup.procs; `).join("")
  return ["sh", "-c", `${entered}exec "$@"`, "sh", ...command]
}

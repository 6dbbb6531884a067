import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { lacking, programPath } from "../../scripts/programs.mjs"

const COMPILER = programPath("cc") ?? "cc"
const SOURCE = join(import.meta.dirname, "faultyDisk.c")

/** The behaviour of a faulty disk at present. */
export type DiskMode = "works" | "slow" | "hang" | "failing" | "full" | "read-only"

/** Why this machine has no faulty disks, if so. */
export const faultyDiskObstacle = (): string | undefined =>
  process.platform === "linux" ? lacking("cc") : "disks can be made faulty on Linux alone"

/** Sets what the disk below the data folder does from now on. */
export const setDiskMode = (folder: string, mode: DiskMode): void => writeFileSync(join(folder, "mode"), mode)

/** Compiles a faulty disk for the data folder in `folder`: the environment of a server that uses it. */
export const faultyDisk = (folder: string) => {
  const library = join(folder, "faultyDisk.so")
  setDiskMode(folder, "works")
  execFileSync(COMPILER, ["-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl"])
  return {
    LD_PRELOAD: library,
    FAULTY_DISK: join(folder, "data"),
    FAULTY_DISK_MODE: join(folder, "mode"),
  }
}

import { spawnSync } from "node:child_process"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { AT_LENGTH } from "@tocsin/test/properties/atLength"
import { Effect } from "effect"
import { scratchFile } from "../ScratchFile.ts"
import { bundledWriter } from "../transactions/bundledWriter.ts"
import { type Remains, replay } from "./RecordedDisk.ts"
import { lacking } from "../../../../scripts/programs.mjs"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const WRITER = bundledWriter()
const AGENTS = 800
// Some pages, so that the log begins anew many times.
const CHECKPOINT_PAGES = 40
const LOSSES = AT_LENGTH ? 200 : 60

// How a write of a log's header begins.
const LOG_HEADER = String.raw`"\x37\x7f\x06`

const TRACER = "strace"
const CALLS = "pwrite64,write,fsync,fdatasync,ftruncate"
const strace = (...args: ReadonlyArray<string>) =>
  spawnSync(TRACER, ["-f", "-y", "-qq", "-xx", "-s", "65536", "-e", `trace=${CALLS}`, ...args], {
    encoding: "utf8",
  })

/** Why nothing can be traced here, if so. */
const untraceable = (): string | undefined => {
  const { error, status, stderr } = strace("-o", "/dev/null", process.execPath, "--version")
  return error?.message ?? (status === 0 ? undefined : `nothing can be traced: ${stderr.split("\n")[0]}`)
}

const obstacle = lacking("strace") ?? untraceable()

/** Numbers from 0 up to 1 that are the same for the same seed (mulberry32). */
const seeded = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The faults after a power loss: damage, or acknowledged agents that are gone. */
const faultsOf = (file: string, { files, printed }: Remains): ReadonlyArray<string> => {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true })
  for (const [path, content] of files)
    writeFileSync(join(dirname(file), path.split("/").at(-1) ?? ""), content)
  const database = new DatabaseSync(file)
  try {
    const { integrity_check } = database.prepare("PRAGMA integrity_check").get() ?? {}
    if (integrity_check !== "ok") return [String(integrity_check)]
    const kept = new Set(
      database
        .prepare("SELECT agent_id FROM agent")
        .all()
        .map((row) => row["agent_id"]),
    )
    return printed.split("\n").filter((name) => name !== "" && !kept.has(name))
  } catch (cause) {
    return [String(cause)]
  } finally {
    database.close()
  }
}

const recordedRun = Effect.map(scratchFile, (file) => {
  const trace = join(dirname(file), "trace")
  const args = [WRITER, file, "agent-", String(AGENTS), String(CHECKPOINT_PAGES)]
  assert.strictEqual(strace("--seccomp-bpf", "-o", trace, process.execPath, ...args).status, 0)
  return { trace: readFileSync(trace, "utf8"), files: [file, `${file}-wal`] }
})

describe("a loss of power", () => {
  it.effect.skipIf(obstacle !== undefined)(
    `leaves a sound file with all that was acknowledged${skippedFor(obstacle)}`,
    () =>
      Effect.gen(function* () {
        const logs = ({ trace }: { readonly trace: string }) => trace.split(LOG_HEADER).length
        // On a busy machine writing may outrun the checkpoints.
        const run = yield* Effect.repeat(recordedRun, { until: (run) => logs(run) > 5, times: 9 })
        assert.isAbove(logs(run), 5)
        const image = yield* scratchFile
        const faultsWith = (...syncs: ReadonlyArray<string>) => {
          const random = seeded(1)
          const calls = run.trace.split("\n").length
          let share = 0
          const losses = replay(run.trace, {
            ...run,
            syncs: new Set(syncs),
            isLost: (printed) => {
              // The surviving share varies from nearly nothing to nearly everything.
              share = random()
              return printed !== "" && random() < LOSSES / calls
            },
            survives: () => random() < share,
          })
          return Array.from(losses, (remains) => faultsOf(image, remains))
        }
        const faults = faultsWith("fsync", "fdatasync")
        assert.isAbove(faults.length, LOSSES / 4)
        assert.deepStrictEqual(faults.flat(), [])
        // The same without the syncs of the log does show what is lost.
        assert.isNotEmpty(faultsWith("fsync").flat())
      }),
  )
})

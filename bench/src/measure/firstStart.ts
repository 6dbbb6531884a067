import { spawn, spawnSync } from "node:child_process"
import { closeSync, openSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import process from "node:process"
import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { FirstStartCase } from "../cases.ts"
import { freePort } from "../processes/freePort.ts"
import type { CaseResult } from "../report/Results.ts"

const LOOK_MILLIS = 200
const LONGEST_MILLIS = 600_000
const BYTES_PER_MB = 1_000_000

const run = (cwd: string, program: string, ...args: ReadonlyArray<string>): string => {
  const { error, status, stderr, stdout } = spawnSync(program, args, { cwd, encoding: "utf8" })
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`)
  return stdout
}

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/api/v1/ready`).then(
    ({ status }) => status === 200,
    () => false,
  )

/** Clones what is committed, starts it with an empty cache of npm, and waits until it is ready. */
const startFirst = async (checkout: string, folder: string) => {
  const clone = join(folder, "clone")
  run(folder, "git", "clone", "--quiet", "--no-hardlinks", checkout, clone)
  const port = await freePort()
  const log = openSync(join(folder, "start.log"), "a")
  const begun = performance.now()
  const child = spawn("npm", ["start"], {
    cwd: clone,
    detached: true,
    env: {
      ...process.env,
      npm_config_cache: join(folder, "npm"),
      SERVICE_HOST: "127.0.0.1",
      SERVICE_PORT: String(port),
      SERVICE_DATA_DIR: join(folder, "data"),
    },
    stdio: ["ignore", log, log],
  })
  closeSync(log)
  try {
    while (!(await isReady(port))) {
      if (child.exitCode !== null || performance.now() - begun > LONGEST_MILLIS)
        throw new Error(`it did not start: ${readFileSync(join(folder, "start.log"), "utf8").slice(-2000)}`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MILLIS))
    }
    const seconds = (performance.now() - begun) / 1000
    const megabytes = (path: string) =>
      Number(run(clone, "du", "-s", "-B1", "--apparent-size", path).split("\t")[0]) / BYTES_PER_MB
    return { seconds, fetched: megabytes(join(folder, "npm")), unpacked: megabytes("node_modules") }
  } finally {
    // npm, and what it started.
    if (child.pid !== undefined && child.exitCode === null) {
      process.kill(-child.pid, "SIGTERM")
      await new Promise((resolve) => child.once("exit", resolve))
    }
  }
}

/** Measures a first start. It asks the registry of npm, so its time is that of the network too. */
export const measureFirstStart = Effect.fnUntraced(function* (bench: Bench, one: FirstStartCase) {
  const folder = yield* bench.folder
  const { fetched, seconds, unpacked } = yield* Effect.tryPromise({
    try: () => startFirst(join(dirname(bench.main), ".."), folder),
    catch: (cause) => new BenchFailure({ message: String(cause) }),
  })
  const result: CaseResult = {
    name: one.name,
    operations: "starts",
    series: [],
    figures: [
      { name: "s to ready", value: seconds },
      { name: "MB in the cache of npm", value: fetched },
      { name: "MB in node_modules", value: unpacked },
    ],
  }
  return result
})

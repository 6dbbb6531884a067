import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, existsSync, openSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import process from "node:process"
import { Effect, Schedule, type Scope } from "effect"
import { BenchFailure } from "../BenchFailure.ts"
import { freePort } from "./freePort.ts"
import { enter } from "./smallHost.ts"
import { stopChild } from "./stopChild.ts"

/** Every storage that a server may have. */
export const STORAGES = ["memory", "sqlite", "postgres"] as const

/** The storage of a server. */
export type StorageName = (typeof STORAGES)[number]

/** How to start the server. */
export interface TocsinOptions {
  /** The module that starts it. */
  readonly main: string
  /** A separate folder on the measured disk. */
  readonly folder: string
  /** `memory:`, an address of PostgreSQL, or undefined for SQLite in `folder`. */
  readonly databaseUrl: string | undefined
  /** The folder for a CPU profile. */
  readonly profileFolder: string | undefined
  /** Where it listens; on a free port by default. */
  readonly port?: number | undefined
  /** Folders of control groups that it runs in. */
  readonly groups?: ReadonlyArray<string> | undefined
  /** Further settings. */
  readonly environment?: Readonly<Record<string, string>> | undefined
}

/** A server that is ready. */
export interface Tocsin {
  readonly port: number
  readonly pid: number
  readonly token: string
  /** From the start to the first answer that it is ready. */
  readonly startMillis: number
}

const TOKEN = "operator-of-the-benchmark"
const START_LOOKS = { schedule: Schedule.spaced("10 millis"), times: 6000 }
const STOP_MILLIS = 20_000

/**
 * The flags that `npm start` gives to Node.js in the checkout that a module stands in, if it does.
 */
const nodeFlags = (main: string): ReadonlyArray<string> => {
  const file = join(dirname(main), "nodeFlags.json")
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as ReadonlyArray<string>) : []
}

const launch = (
  { main, folder, databaseUrl, environment, groups = [], profileFolder }: TocsinOptions,
  port: number,
): ChildProcess => {
  // The debug notifier writes a line per notification there: a pipe that is not read would hold the
  // server up.
  const log = openSync(join(folder, "server.log"), "a")
  const profile =
    profileFolder === undefined
      ? []
      : ["--cpu-prof", "--cpu-prof-dir", profileFolder, "--cpu-prof-interval", "500"]
  const node = [process.execPath, ...nodeFlags(main), ...profile, main]
  const [program = "", ...args] = enter(groups, node)
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      SERVICE_AUTH_TOKEN: TOKEN,
      SERVICE_HOST: "127.0.0.1",
      SERVICE_PORT: String(port),
      SERVICE_DATA_DIR: join(folder, "data"),
      SERVICE_HEARTBEAT_RATE: "0",
      SERVICE_REGISTRATION_RATE: "0",
      SERVICE_MAX_PENDING_AGENTS: "1000000",
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ...environment,
    },
    stdio: ["ignore", log, log],
  })
  closeSync(log)
  return child
}

const lookWhetherReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/api/v1/ready`).then(
    ({ status }) => status === 200,
    () => false,
  )

/**
 * Runs the server in a separate process on an empty storage until the scope closes. Its log goes to
 * a file.
 */
export const tocsin = Effect.fnUntraced(function* (
  options: TocsinOptions,
): Effect.fn.Return<Tocsin, BenchFailure, Scope.Scope> {
  const port = options.port ?? (yield* Effect.promise(freePort))
  const start = performance.now()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => launch(options, port)),
    (started) => Effect.promise(() => stopChild(started, STOP_MILLIS)),
  )
  const notReady = Effect.suspend(() =>
    Effect.fail(
      new BenchFailure({
        message: `the server did not start: ${readFileSync(join(options.folder, "server.log"), "utf8").slice(-2000)}`,
      }),
    ),
  )
  yield* Effect.promise(() => lookWhetherReady(port)).pipe(
    Effect.filterOrFail((isReady) => isReady),
    Effect.retry({ ...START_LOOKS, while: () => child.exitCode === null }),
    Effect.catch(() => notReady),
  )
  return { port, pid: child.pid ?? 0, token: TOKEN, startMillis: performance.now() - start }
})

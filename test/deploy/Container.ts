import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { Effect, Result, type Scope } from "effect"
import { until } from "../processes/until.ts"
import type { Image } from "./readImage.ts"

/** The exit code and the output of a command. */
export interface Ran {
  readonly code: number
  readonly output: string
}

/** A server that was started as its image says. */
export interface Container {
  readonly baseUrl: string
  /** The server's own process. */
  readonly pid: number
  /** Runs a command beside the server, as `docker exec` does. */
  readonly exec: (command: ReadonlyArray<string>) => Effect.Effect<Ran>
  /** Sends the image's stop signal; resolves with the exit code and how long that took. */
  readonly stop: Effect.Effect<{ readonly code: number | null; readonly millis: number }>
}

/** Where the parts of a container lie. */
export interface Folders {
  readonly root: string
  readonly data: string
}

type Environment = Readonly<Record<string, string>>

const pathOf = (program: string): string =>
  execFileSync("sh", ["-c", `command -v ${program}`])
    .toString()
    .trim()

/** Why this machine cannot change the root of a process; nothing if it can. */
export const whyNotIsolated = (): string | undefined => {
  if (process.getuid?.() !== 0) return "only root may give a process a root of its own"
  const probe = Result.try(() => {
    const args = [
      "--mount",
      "--pid",
      "--fork",
      pathOf("setpriv"),
      "--no-new-privs",
      pathOf("nsenter"),
      "--version",
    ]
    return execFileSync(pathOf("unshare"), args, { stdio: "ignore" })
  })
  return Result.isFailure(probe) ? "namespaces cannot be made here" : undefined
}

const isIsolated = whyNotIsolated() === undefined

const userOf = ({ user }: Image): ReadonlyArray<string> => user.split(":")

const SCRIPT = "test/deploy/inContainer.sh"

/**
 * Starts the image's command with its environment: isolated where that can be, else in the folder
 * by an empty environment alone.
 */
const launch = (image: Image, { root, data }: Folders, environment: Environment): ChildProcess => {
  const stdio: ["ignore", "ignore", "pipe"] = ["ignore", "ignore", "pipe"]
  if (!isIsolated) {
    const env = { ...environment, SERVICE_DATA_DIR: data }
    return spawn(join(root, "usr/local/bin/node"), [join(root, "tocsin/tocsin.mjs")], {
      cwd: data,
      env,
      stdio,
    })
  }
  const namespaces = ["--mount", "--pid", "--fork", "--kill-child"]
  const place = [pathOf("setpriv"), pathOf("chroot"), root, data, ...userOf(image)]
  const args = [...namespaces, "/bin/sh", SCRIPT, ...place, ...image.entrypoint]
  return spawn(pathOf("unshare"), args, { env: environment, stdio })
}

/** The server among the processes that were started for it. */
const serverOf = (launched: number): number => {
  if (!isIsolated) return launched
  const children = readFileSync(`/proc/${launched}/task/${launched}/children`, "utf8")
  return Number(children.trim())
}

const execIn =
  (image: Image, root: string, pid: number, environment: Environment) => (command: ReadonlyArray<string>) =>
    Effect.promise(
      () =>
        new Promise<Ran>((resolve) => {
          const [uid = "", gid = ""] = userOf(image)
          const [program = "", ...args] = command
          const own = join(root, "usr/local/bin", program)
          const entering = [
            "--target",
            `${pid}`,
            "--mount",
            "--pid",
            "--root",
            "--wd",
            "--setuid",
            uid,
            "--setgid",
            gid,
          ]
          const [file, all] = isIsolated
            ? [pathOf("nsenter"), [...entering, "--", ...command]]
            : [own, args.map((arg) => (arg.startsWith("/tocsin/") ? join(root, arg) : arg))]
          execFile(file, all, { env: environment }, (error, stdout, stderr) =>
            resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
          )
        }),
    )

/** Ends all that was started; a process that changed its user does not end with its parent. */
const end = (launched: ChildProcess): void => {
  const isRunning = launched.exitCode === null && launched.signalCode === null
  const server = isRunning && launched.pid !== undefined ? serverOf(launched.pid) : 0
  if (server !== 0) process.kill(server, "SIGKILL")
  launched.kill("SIGKILL")
}

/**
 * Starts an image that was assembled at `root`, on a port that the system chooses, and waits until
 * it listens.
 */
export const startContainer = Effect.fnUntraced(function* (
  image: Image,
  folders: Folders,
  settings: Environment,
): Effect.fn.Return<Container, never, Scope.Scope> {
  const environment = { ...image.environment, SERVICE_PORT: "0", ...settings }
  let log = ""
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => launch(image, folders, environment)),
    (started) => Effect.sync(() => end(started)),
  )
  child.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString()))
  const ended = once(child, "close")
  const endedEarly = Effect.flatMap(
    Effect.promise(() => ended),
    () => Effect.die(new Error(`the container ended: ${log}`)),
  )
  const listening = Effect.sync(() => /Tocsin listens on http:\/\/[\d.]+:(\d+)/.exec(log)?.[1])
  const port = yield* Effect.raceFirst(until("the container listens", listening), endedEarly)
  const pid = serverOf(child.pid ?? 0)
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    pid,
    exec: execIn(image, folders.root, pid, { ...environment, SERVICE_PORT: port }),
    stop: Effect.promise(async () => {
      const before = performance.now()
      process.kill(pid, image.stopSignal)
      const [code] = await ended
      return { code, millis: performance.now() - before }
    }),
  }
})

import { type ChildProcess, spawn } from "node:child_process"
import process from "node:process"
import { Deferred, Effect, type Scope } from "effect"
import { COMPILE_CACHE, FOR_SECONDS, SERVER } from "./program.ts"
import { type Environment, exposedIn, type ProcessOutput } from "./secrecy.ts"
import { until } from "./until.ts"

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** How to start a server. */
export interface LaunchOptions {
  /** Its working folder, and the place of `./data`. */
  readonly cwd: string
  readonly environment?: Environment
  readonly args?: ReadonlyArray<string>
  /** The user and group that it runs as, this process' own unless given. */
  readonly uid?: number | undefined
  /** A program that becomes the server under other conditions, with its arguments. */
  readonly through?: ReadonlyArray<string>
}

/** A process of the server, whether it listens or not. */
export interface LaunchedProcess {
  readonly pid: number | undefined
  readonly output: ProcessOutput
  /** Waits for its end, and for all that it wrote. */
  readonly ended: Effect.Effect<ProcessEnd>
  readonly signal: (name: NodeJS.Signals) => Effect.Effect<void>
  /** Stops reading its output, like a log reader that died. */
  readonly closeOutput: Effect.Effect<void>
  /** Sends SIGTERM and waits. */
  readonly stop: Effect.Effect<ProcessEnd>
  /** Sends SIGKILL and waits: to everybody else that is a crash. */
  readonly kill: Effect.Effect<ProcessEnd>
}

/** A server that takes requests. */
export interface ServerProcess extends LaunchedProcess {
  readonly baseUrl: string
  readonly port: number
}

/**
 * Runs the server as `npm start` does, on a port that the system chooses, everything logged. It
 * ends with the scope, and must not have written a secret by then (docs/rules.md#agent-keys,
 * docs/rules.md#notifiers).
 */
export const launch = Effect.fnUntraced(function* ({
  cwd,
  environment = {},
  args = [],
  uid,
  through = [],
}: LaunchOptions): Effect.fn.Return<LaunchedProcess, never, Scope.Scope> {
  const output = { stdout: "", stderr: "" }
  const end = Deferred.makeUnsafe<ProcessEnd>()
  const ended = Deferred.await(end)
  const child: ChildProcess = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const [program = "", ...programArgs] = [...through, process.execPath, ...FOR_SECONDS, SERVER, ...args]
      const started = spawn(program, programArgs, {
        cwd,
        env: {
          PATH: process.env["PATH"],
          SERVICE_PORT: "0",
          SERVICE_LOG_LEVEL: "trace",
          ...COMPILE_CACHE,
          ...environment,
        },
        stdio: ["ignore", "pipe", "pipe"],
        ...(uid !== undefined && { uid, gid: uid }),
      })
      started.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()))
      started.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()))
      started.on("close", (code, signal) => Deferred.doneUnsafe(end, Effect.succeed({ code, signal })))
      return started
    }),
    (started) =>
      Effect.gen(function* () {
        started.kill("SIGKILL")
        yield* ended
        const exposed = args.length === 0 ? exposedIn(output, environment) : []
        if (exposed.length > 0) return yield* Effect.die(new Error(`a server wrote ${exposed.join(", ")}`))
      }),
  )
  const signal = (name: NodeJS.Signals) => Effect.sync(() => void child.kill(name))
  return {
    pid: child.pid,
    output,
    ended,
    signal,
    closeOutput: Effect.sync(() => {
      child.stdout?.destroy()
      child.stderr?.destroy()
    }),
    stop: Effect.andThen(signal("SIGTERM"), ended),
    kill: Effect.andThen(signal("SIGKILL"), ended),
  }
})

/** Starts a server and waits until it listens. */
export const startServer = Effect.fnUntraced(function* (
  options: LaunchOptions,
): Effect.fn.Return<ServerProcess, never, Scope.Scope> {
  const launched = yield* launch(options)
  const { ended, output } = launched
  const endedEarly = Effect.flatMap(ended, ({ code, signal }) =>
    Effect.die(new Error(`the server ended by ${signal ?? code} before it listened: ${output.stderr}`)),
  )
  const address = Effect.sync(() => /Tocsin listens on (http:\/\/[^"\s]+)/.exec(output.stderr)?.[1])
  const baseUrl = yield* Effect.raceFirst(until("the server listens", address), endedEarly)
  return { ...launched, baseUrl, port: Number(new URL(baseUrl).port) }
})

import { execFileSync, spawn } from "node:child_process"
import { closeSync, existsSync, openSync, readFileSync } from "node:fs"
import { once } from "node:events"
import { connect } from "node:net"
import { join } from "node:path"
import process from "node:process"
import { Effect, Schedule, type Scope } from "effect"
import { BenchFailure } from "../BenchFailure.ts"
import type { Step } from "../load/Load.ts"
import type { ProtocolName } from "../load/protocols/protocols.ts"
import { stopChild } from "../processes/stopChild.ts"

/** Another monitoring service, started from a scratch folder. */
export interface Peer {
  readonly name: string
  readonly protocol: ProtocolName
  readonly port: number
  readonly pid: number
  /** The kinds of work that it has. */
  readonly steps: ReadonlyArray<Step>
  /** How many reports it has stored, if that is later than its answer. */
  readonly stored?: (step: Step) => Effect.Effect<number, BenchFailure>
}

/** The start options of every peer. */
export interface PeerOptions {
  /** An empty folder. */
  readonly folder: string
  readonly agents: number
}

const FOLDERS = ["/usr/sbin", "/usr/bin", "/usr/lib/x86_64-linux-gnu/icinga2/sbin"]

/** The path of an installed program; undefined if it is not there. */
export const programNamed = (name: string): string | undefined =>
  FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path))

/** The first number with dots that a program prints as its version. */
export const versionOf = (program: string): string =>
  /\d+\.\d+(\.\d+)?/.exec(
    execFileSync(program, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
  )?.[0] ?? ""

const STOP_MILLIS = 10_000
const START_LOOKS = { schedule: Schedule.spaced("100 millis"), times: 600 }

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port })
    socket.on("connect", () => resolve(true))
    socket.on("error", () => resolve(false))
    socket.on("connect", () => socket.destroy())
  })

/** Ends a group of processes once this one has ended, in whatever way. */
const guardOf = (group = 0) =>
  spawn("sh", ["-c", `cat > /dev/null; kill -s KILL -- -${group}`], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  })

/** Starts a program that writes its log into the folder, waits for its port, and stops it with the scope. */
export const startProgram = Effect.fnUntraced(function* (
  program: string,
  args: ReadonlyArray<string>,
  at: { readonly folder: string; readonly port: number; readonly environment?: Record<string, string> },
): Effect.fn.Return<number, BenchFailure, Scope.Scope> {
  const log = join(at.folder, "output.log")
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const output = openSync(log, "a")
      const env = { PATH: process.env["PATH"], ...at.environment }
      const stdio = ["ignore", output, output] as const
      const started = spawn(program, args, { cwd: at.folder, env, stdio: [...stdio], detached: true })
      closeSync(output)
      return Object.assign(started, { guard: guardOf(started.pid) })
    }),
    (started) =>
      Effect.promise(async () => {
        await stopChild(started, STOP_MILLIS)
        // The guard ends the processes of its group that outlive it.
        const ended = once(started.guard, "exit")
        started.guard.stdin.end()
        await ended
      }),
  )
  yield* Effect.promise(() => isListening(at.port)).pipe(
    Effect.filterOrFail((isReady) => isReady),
    Effect.retry({ ...START_LOOKS, while: () => child.exitCode === null }),
    Effect.mapError(
      () =>
        new BenchFailure({ message: `${program} did not start: ${readFileSync(log, "utf8").slice(-2000)}` }),
    ),
  )
  return child.pid ?? 0
})

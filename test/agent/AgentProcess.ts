import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { Effect, type Scope } from "effect"
import { AGENT } from "../processes/program.ts"

/** As `npm run agent` starts it. */
const PROGRAM = [AGENT]

/** A host with an agent of its own. */
export interface AgentHost {
  readonly configure: (text: string) => void
  /** Runs a command of the agent to its end. */
  readonly run: (...args: ReadonlyArray<string>) => {
    readonly status: number | null
    readonly stdout: string
  }
  /** Starts the daemon; it is killed with the scope. */
  readonly start: Effect.Effect<AgentProcess, never, Scope.Scope>
  /** Starts it with further options, and with a token in its environment. */
  readonly startEnrolling: (
    token: string,
    ...options: ReadonlyArray<string>
  ) => Effect.Effect<AgentProcess, never, Scope.Scope>
}

/** A running agent. */
export interface AgentProcess {
  readonly log: { text: string }
  /** As `systemctl reload` does. */
  readonly reload: Effect.Effect<void>
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<number | null>
}

const endBy = async (child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> => {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  child.kill(signal)
  await once(child, "exit")
  return child.exitCode
}

/** A host whose files are in `folder`; `through` is a program that becomes the daemon, with its arguments. */
export const agentHost = (folder: string, through: ReadonlyArray<string> = []): AgentHost => {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, "config.yaml")
  const flags = ["--config", config, "--state", join(folder, "state")]
  const started = (options: ReadonlyArray<string>, environment: NodeJS.ProcessEnv = {}) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const [program = "", ...args] = [
          ...through,
          process.execPath,
          ...PROGRAM,
          "start",
          ...flags,
          ...options,
        ]
        const child = spawn(program, args, {
          stdio: ["ignore", "ignore", "pipe"],
          env: { ...process.env, ...environment },
        })
        const log = { text: "" }
        child.stderr.on("data", (chunk: Buffer) => (log.text += chunk.toString()))
        return {
          log,
          reload: Effect.sync(() => void child.kill("SIGHUP")),
          kill: (signal: NodeJS.Signals) => Effect.promise(() => endBy(child, signal)),
        }
      }),
      ({ kill }) => kill("SIGKILL"),
    )
  return {
    configure: (text) => writeFileSync(config, text),
    run: (command = "", ...args) => {
      const { status, stdout } = spawnSync(process.execPath, [...PROGRAM, command, ...flags, ...args], {
        encoding: "utf8",
      })
      return { status, stdout }
    },
    start: started([]),
    startEnrolling: (token, ...options) => started(options, { TOCSIN_ENROLMENT_TOKEN: token }),
  }
}

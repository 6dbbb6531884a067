import { type ChildProcess, fork } from "node:child_process"
import process from "node:process"
import { pathToFileURL } from "node:url"
import { Effect, Redacted, type Scope, Semaphore } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { COMMANDS, COMPILE_CACHE, SERVER } from "../processes/program.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import { type Environment, MARK } from "../processes/secrecy.ts"
import { launch } from "../processes/ServerProcess.ts"
import type { Order } from "./commandsProcess.ts"

/** Where a server and commands meet: a folder, and the settings of both. */
export interface Place {
  readonly cwd: string
  readonly environment: Environment
  /** The user that commands run as, this process' own unless given. */
  readonly uid?: number
}

/** The exit code and the output of a command. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

type Run = (place: Place, args: ReadonlyArray<string>) => Effect.Effect<Ran>

/** Runs a command in a process for it alone. */
const runAlone: Run = ({ cwd, environment, uid }, args) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { ended, output } = yield* launch({ cwd, environment, args, uid })
      const { code } = yield* ended
      return { code, ...output }
    }),
  )

const turn = Semaphore.makeUnsafe(2)
const idle: Array<ChildProcess> = []

/** Starts a process for commands, which ends with this one. */
const startCommands = (): ChildProcess => {
  const child = fork(COMMANDS, { env: COMPILE_CACHE, execArgv: [], stdio: ["ignore", 2, 2, "ipc"] })
  child.unref()
  child.channel?.unref()
  return child
}

/** Runs a command in a process that has run others: what they need is compiled there. */
const runAmongOthers: Run = ({ cwd, environment }, args) =>
  turn.withPermit(
    Effect.callback((resume) => {
      const child = idle.pop() ?? startCommands()
      const onExit = () =>
        resume(Effect.die(new Error(`tocsin ${args.join(" ")} ended the process of others`)))
      child.once("exit", onExit)
      child.once("message", (ran: Ran) => {
        child.off("exit", onExit)
        idle.push(child)
        resume(Effect.succeed(ran))
      })
      const order: Order = {
        args,
        cwd,
        environment: { PATH: process.env["PATH"] ?? "", ...environment },
        program: pathToFileURL(SERVER).href,
      }
      child.send(order)
    }),
  )

/** Fails a test whose command wrote a secret. */
const withoutSecrets = Effect.fnUntraced(function* (run: Run, place: Place, args: ReadonlyArray<string>) {
  const environment: Environment = { SERVICE_LOG_LEVEL: "info", ...place.environment }
  const ran = yield* run({ ...place, environment }, args)
  const written = ran.stdout + ran.stderr
  const password = URL.parse(environment["DATABASE_URL"] ?? "")?.password ?? ""
  if (written.includes(MARK) || (password.length >= 8 && written.includes(password))) {
    return yield* Effect.die(new Error(`tocsin ${args.join(" ")} wrote a secret`))
  }
  return ran
})

/** Runs a command as a script does, in a separate process without a terminal. It must not print a secret. */
export const tocsinAlone = (place: Place, ...args: ReadonlyArray<string>): Effect.Effect<Ran> =>
  withoutSecrets(runAlone, place, args)

/** The same for a quarter of the processor time, where the subject is not how a process starts and ends. */
export const tocsin = (place: Place, ...args: ReadonlyArray<string>): Effect.Effect<Ran> =>
  withoutSecrets(place.uid === undefined ? runAmongOthers : runAlone, place, args)

/** The JSON document that a command wrote; dies where it failed or wrote anything else. */
export const jsonOf = Effect.fnUntraced(function* (
  place: Place,
  ...args: ReadonlyArray<string>
): Effect.fn.Return<unknown> {
  const { code, stdout, stderr } = yield* tocsin(place, ...args, "--json")
  if (code !== 0 || stderr !== "") {
    return yield* Effect.die(new Error(`tocsin ${args.join(" ")} ended with ${code}: ${stderr}`))
  }
  return JSON.parse(stdout)
})

/** Where the storages are that commands work on, empty; each goes with its scope. */
export const places: ReadonlyArray<{
  readonly name: string
  readonly make: Effect.Effect<Place, never, Scope.Scope>
}> = [
  {
    name: "SQLite",
    make: Effect.map(scratchFolder, (cwd) => ({ cwd, environment: {} })),
  },
  {
    name: "PostgreSQL",
    make: Effect.gen(function* () {
      const { url } = yield* scratchPostgres
      return { cwd: yield* scratchFolder, environment: { DATABASE_URL: Redacted.value(url) } }
    }),
  },
]

/** The settings of a server at a place: it has an operator token, and reports only in its log. */
export const serverAt = ({ cwd, environment }: Place) => ({
  cwd,
  environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, ...environment },
})

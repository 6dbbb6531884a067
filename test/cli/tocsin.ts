import { Effect, Redacted, type Scope } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import { type Environment, MARK } from "../processes/secrecy.ts"
import { launch } from "../processes/ServerProcess.ts"

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

/** Runs a command as a script does, without a terminal. It must not print a secret. */
export const tocsin = (place: Place, ...args: ReadonlyArray<string>): Effect.Effect<Ran> =>
  Effect.scoped(
    Effect.gen(function* () {
      const environment: Environment = { SERVICE_LOG_LEVEL: "info", ...place.environment }
      const { ended, output } = yield* launch({ cwd: place.cwd, environment, args, uid: place.uid })
      const { code } = yield* ended
      const written = output.stdout + output.stderr
      const password = URL.parse(environment["DATABASE_URL"] ?? "")?.password ?? ""
      if (written.includes(MARK) || (password.length >= 8 && written.includes(password))) {
        return yield* Effect.die(new Error(`tocsin ${args.join(" ")} wrote a secret`))
      }
      return { code, ...output }
    }),
  )

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

import { plainLine } from "@tocsin/contract/formats/plainLine"
import { existsSync, writeSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type AgentConfig, type GivenConfig, readConfig } from "../config/readConfig.ts"
import { type Problem, problemText, type Reader } from "../config/Reader.ts"
import { primaryOf } from "../spool/spoolFault.ts"

/** The output of `tocsin-agent --help`. */
export const USAGE = `tocsin-agent runs the checks of a host and reports their results to a Tocsin server.

  tocsin-agent start                         run the checks of the configuration until stopped
  tocsin-agent check [--print]               examine the configuration, and print it in full
  tocsin-agent try CHECK [--json]            run a check now, as the agent would, and show its result: nothing is sent
  tocsin-agent try --all [--json]            run each check so, and show a table of the results
  tocsin-agent status [--json]               backlog, clock, and what the server last said
  tocsin-agent fingerprint                   the fingerprint to compare before the key is accepted
  tocsin-agent rotate                        make a new key, used once it is accepted
  tocsin-agent report CHECK STATUS [TEXT]    report a result: ok, warning, critical or unknown, or 0 to 3
  tocsin-agent run CHECK -- COMMAND…         run a command and report how it ended
  tocsin-agent import FILE                   print the checks of an nrpe.cfg as a configuration

start takes
  --server URL    the server, in place of the configuration's; without a file, disk, load and memory are checked
  --enrol         ask for an enrolment token, by which the server accepts this agent; or set TOCSIN_ENROLMENT_TOKEN

report takes its TEXT from standard input for -, and literally after --. It takes
  --incident-key KEY   groups results of several checks into one incident

run takes, before the --
  --incident-key KEY   the same
  --severity SEVERITY  of a job that fails: warning, critical or unknown; by default the check's, else critical
  --nagios             the exit code is that of a plugin: 0 ok, 1 warning, 2 critical, 3 unknown
  --timeout DURATION   end the job after this time, such as 90s or 2h: SIGTERM, then SIGKILL 5 s later
  --no-overlap         do not start the job while its former run is under way; exits with 75

Every command takes
  --config FILE   the configuration (/etc/tocsin-agent/config.yaml), with checks.d/*.yaml beside it
  --state DIR     the folder of the key and the spool (/var/lib/tocsin-agent)
Where these folders are missing and the user is not root: ~/.config/tocsin-agent, ~/.local/state/tocsin-agent`

/** The folder of an installed agent, or one of the user's own where there is none. */
const folderOf = (system: string, own: string): string =>
  process.geteuid?.() === 0 || existsSync(system) ? system : join(homedir(), own)

const DEFAULT_CONFIG = join(folderOf("/etc/tocsin-agent", ".config/tocsin-agent"), "config.yaml")
const DEFAULT_STATE = folderOf("/var/lib/tocsin-agent", ".local/state/tocsin-agent")

const OPTIONS = {
  config: { type: "string", default: DEFAULT_CONFIG },
  state: { type: "string", default: DEFAULT_STATE },
  server: { type: "string" },
  enrol: { type: "boolean" },
  json: { type: "boolean" },
  all: { type: "boolean" },
  print: { type: "boolean" },
  "incident-key": { type: "string" },
  severity: { type: "string" },
  nagios: { type: "boolean" },
  timeout: { type: "string" },
  "no-overlap": { type: "boolean" },
} as const

/** An option that only some commands take. */
type OwnOption = Exclude<keyof typeof OPTIONS, "config" | "state">

const valuesOf = (argv: ReadonlyArray<string>) =>
  parseArgs({ args: [...argv], allowPositionals: true, options: OPTIONS })

export type CommandOptions = ReturnType<typeof valuesOf>["values"] & { readonly args: ReadonlyArray<string> }

/** The command line was wrong: the message says how. */
export class UsageError extends Error {}

export const readOptions = (
  argv: ReadonlyArray<string>,
  allowed: ReadonlyArray<OwnOption> = [],
): CommandOptions => {
  let read
  try {
    read = valuesOf(argv)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
  const taken: ReadonlyArray<string> = ["config", "state", ...allowed]
  const other = Object.keys(read.values).find((name) => !taken.includes(name))
  if (other !== undefined) throw new UsageError(`--${other} has no meaning here`)
  return { ...read.values, args: read.positionals }
}

/** Where the second argument that is no option stands; at the end where there is none. */
export const indexOfSecond = (argv: ReadonlyArray<string>): number => {
  const { tokens } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options: OPTIONS,
  })
  const [, second] = tokens.filter(({ kind }) => kind === "positional")
  return second?.index ?? argv.length
}

/** No positional argument is expected. */
export const withoutArguments = (options: CommandOptions): CommandOptions => {
  const [first] = options.args
  if (first !== undefined) throw new UsageError(`${first} is not expected here`)
  return options
}

/** Reads the value of an option as the configuration reads it. */
export const valueOf = <A>(reader: Reader<A>, subject: string, value: string): A => {
  const read = reader(value, {
    path: [],
    refuse: (message) => {
      throw new UsageError(`${subject} ${message}`)
    },
  })
  if (read === undefined) throw new UsageError(`${subject} cannot be read`)
  return read
}

/** Writes one line for people to standard error; a reader that went away is no reason to end. */
export const complain = (message: string): void => writeLine(2, `tocsin-agent: ${plainLine(message)}`)

export const print = (line: string): void => writeLine(1, line)

const REFUSALS: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS"])

/** SQLite's codes READONLY and CANTOPEN: it names no file. */
const SPOOL_REFUSALS: ReadonlySet<number> = new Set([8, 14])

const refusalOf = (error: Error): string | undefined => {
  if ("errcode" in error && SPOOL_REFUSALS.has(primaryOf(error.errcode)))
    return `the spool cannot be written (${error.message})`
  return "code" in error && REFUSALS.has(error.code) ? error.message : undefined
}

/** Why a command failed, and who can run it where the system refused its caller. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const refusal = refusalOf(error)
  return refusal !== undefined
    ? `${refusal}: run it as root or as the owner of the state folder, on a disk that is not read-only; report and run also work in the folder's group`
    : error.message
}

/** Complains about problems of a file, each by its line. */
export const complainOf = (problems: ReadonlyArray<Problem>): void => {
  for (const problem of problems) complain(problemText(problem))
}

/** The configuration; complains about everything that is wrong with it. */
export const loadConfig = (file: string, given?: GivenConfig): AgentConfig | undefined => {
  const { config, problems } = readConfig(file, given)
  complainOf(problems)
  return config
}

const writeLine = (descriptor: number, line: string): void => {
  try {
    writeSync(descriptor, `${line}\n`)
  } catch {
    // The reader has closed the pipe.
  }
}

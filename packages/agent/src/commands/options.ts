import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Reader } from "../config/Reader.ts"

/** The folder of an installed agent, or one of the user's own where there is none. */
const folderOf = (system: string, own: string): string =>
  process.geteuid?.() === 0 || existsSync(system) ? system : join(homedir(), own)

const DEFAULT_CONFIG = join(folderOf("/etc/tocsin-agent", ".config/tocsin-agent"), "config.yaml")
const DEFAULT_STATE = folderOf("/var/lib/tocsin-agent", ".local/state/tocsin-agent")

/** Every option, in the form that parseArgs takes. */
const OPTIONS = {
  config: { type: "string", default: DEFAULT_CONFIG },
  state: { type: "string", default: DEFAULT_STATE },
  server: { type: "string" },
  enrol: { type: "boolean" },
  json: { type: "boolean" },
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

/** The options of a command, and its other arguments. */
export type CommandOptions = ReturnType<typeof valuesOf>["values"] & { readonly args: ReadonlyArray<string> }

/** The command line was wrong: the message says how. */
export class UsageError extends Error {}

/** Reads the arguments after the command's name. */
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

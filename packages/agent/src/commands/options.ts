import { parseArgs } from "node:util"

/** What every command takes. */
export interface CommandOptions {
  readonly config: string
  readonly state: string
  readonly json: boolean
  readonly print: boolean
  readonly args: ReadonlyArray<string>
}

const DEFAULT_CONFIG = "/etc/tocsin-agent/config.yaml"
const DEFAULT_STATE = "/var/lib/tocsin-agent"

/** The command line was wrong: the message says how. */
export class UsageError extends Error {}

/** Reads the arguments after the command's name. Everything after `--` belongs to a wrapped command. */
export const readOptions = (
  argv: ReadonlyArray<string>,
  allowed: ReadonlyArray<"json" | "print"> = [],
): CommandOptions => {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        config: { type: "string", default: DEFAULT_CONFIG },
        state: { type: "string", default: DEFAULT_STATE },
        json: { type: "boolean", default: false },
        print: { type: "boolean", default: false },
      },
    })
    for (const flag of ["json", "print"] as const) {
      if (values[flag] && !allowed.includes(flag)) throw new UsageError(`--${flag} has no meaning here`)
    }
    return { ...values, args: positionals }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** No positional argument is expected. */
export const withoutArguments = (options: CommandOptions): CommandOptions => {
  const [first] = options.args
  if (first !== undefined) throw new UsageError(`${first} is not expected here`)
  return options
}

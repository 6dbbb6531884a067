import { parseArgs } from "node:util"
import { allFaults } from "./allFaults.ts"
import type { Fault, Setup } from "./Fault.ts"

/** The options of the command line. */
export interface Options {
  readonly faults: ReadonlyArray<Fault>
  readonly setups: ReadonlyArray<Setup>
  /** How often each fault is caused; otherwise each has a number of its own. */
  readonly rounds: number | undefined
  readonly seed: number
  readonly isWritten: boolean
}

const helpText = `Usage: npm run faults -- [options]

Causes faults under load, and compares what the service stores and sends with what it acknowledged.

Options:
  --list               the faults, and nothing else
  --only NAME          only faults whose name contains this; may be repeated
  --storage NAME       sqlite or postgres
  --servers N          1 or 3
  --rounds N           how often each fault is caused
  --seed N             of the random moments (by default the time)
  --write              put the rows into docs/reliability.md
`

const names = (): string =>
  allFaults
    .flatMap(({ faults }) => faults)
    .map(({ name, setups }) => `${name} (${setups.join(", ")})\n`)
    .join("")

const positive = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new Error(`--${name} takes a whole number above 0`)
}

const setupsOf = (storage: string | undefined, servers: string | undefined): ReadonlyArray<Setup> => {
  if (storage !== undefined && storage !== "sqlite" && storage !== "postgres")
    throw new Error("--storage takes sqlite or postgres")
  if (servers !== undefined && servers !== "1" && servers !== "3") throw new Error("--servers takes 1 or 3")
  const all: ReadonlyArray<Setup> = ["sqlite", "postgres", "three on postgres"]
  return all.filter(
    (setup) =>
      (storage === undefined || setup.endsWith(storage)) &&
      (servers === undefined || (servers === "3") === (setup === "three on postgres")),
  )
}

/**
 * Reads the command line. Returns `undefined` after printing help or a list; throws for an invalid
 * option.
 */
export const readOptions = (
  args: ReadonlyArray<string>,
  say: (text: string) => void,
): Options | undefined => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: "boolean", short: "h" },
      list: { type: "boolean" },
      only: { type: "string", multiple: true },
      storage: { type: "string" },
      servers: { type: "string" },
      rounds: { type: "string" },
      seed: { type: "string" },
      write: { type: "boolean" },
    },
  })
  if (values.help === true || values.list === true) {
    say(values.help === true ? helpText : names())
    return undefined
  }
  const { only } = values
  const faults = allFaults
    .flatMap((kind) => kind.faults)
    .filter(({ name }) => only === undefined || only.some((part) => name.includes(part)))
  if (faults.length === 0) throw new Error(`no fault is called ${only?.join(" or ")}; --list names them`)
  return {
    faults,
    setups: setupsOf(values.storage, values.servers),
    rounds: positive("rounds", values.rounds),
    seed: positive("seed", values.seed) ?? Date.now(),
    isWritten: values.write === true,
  }
}

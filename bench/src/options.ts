import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import type { Measures } from "./Bench.ts"
import type { PostgresOrigin } from "./postgres/PostgresPrograms.ts"
import { allCases, type BenchCase, selectCases } from "./cases.ts"

/** The options of the command line. */
export interface Options {
  readonly cases: ReadonlyArray<BenchCase>
  readonly measures: Measures
  /** The measured checkout, and its module that starts the server. */
  readonly checkout: string
  readonly main: string
  /** The same of the checkout to compare with, if any. */
  readonly against: string | undefined
  readonly dataFolder: string | undefined
  /** Which PostgreSQL; by default the machine's, if any. */
  readonly postgres: PostgresOrigin | undefined
  readonly jsonFile: string | undefined
  readonly compareFile: string | undefined
  readonly profileFolder: string | undefined
}

const FULL: Measures = {
  agents: 100,
  warmUpSeconds: 1,
  seconds: 5,
  repeats: 5,
  settleSeconds: 10,
  soakSeconds: 600,
}
const QUICK: Measures = { ...FULL, seconds: 1, repeats: 1, settleSeconds: 2, soakSeconds: 20 }

const helpText = `Usage: npm run bench -- [options] [case, storage or kind of work …]

Options:
  --list             the cases, and nothing else
  --quick            one second, once: to see that it works
  --seconds N        measured time of one sample (${FULL.seconds})
  --warm-up N        time before it that does not count (${FULL.warmUpSeconds})
  --repeats N        samples of each, taken in turn (${FULL.repeats})
  --agents N         agents, of 50 checks each (${FULL.agents})
  --large            growth up to 100,000 agents and 10,000,000 rows of history, which takes an hour
  --soak-seconds N   length of the soak (${FULL.soakSeconds})
  --settle-seconds N wait before idle memory is read (${FULL.settleSeconds})
  --server DIR       another checkout of Tocsin, or a module that starts it
  --against DIR      measures throughput in turn with another checkout instead of the limits
  --data-dir DIR     where to keep data: the disk that is measured
  --postgres WHICH   machine or embedded (the machine's own, where there is one)
  --cpu-prof DIR     leave CPU profiles of the servers there
  --json FILE        write all that was measured
  --compare FILE     compare with what --json wrote before
`

const positive = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const value = Number(text)
  if (value > 0) return value
  throw new Error(`--${name} takes a number above 0`)
}

const originOf = (text: string | undefined): PostgresOrigin | undefined => {
  if (text === undefined || text === "machine" || text === "embedded") return text
  throw new Error("--postgres takes machine or embedded")
}

/** A case at its full size. */
const enlarged = (one: BenchCase): BenchCase =>
  one.kind === "growth" ? { ...one, many: one.large ?? one.many } : one

const HERE = resolve(import.meta.dirname, "../..")

/** `npm start` runs scripts/start.mjs; older commits have only the module behind it. */
const mainOf = (given: string): { readonly checkout: string; readonly main: string } => {
  if (/\.(ts|mjs)$/.test(given)) return { checkout: resolve(given, ".."), main: resolve(given) }
  const mains = ["scripts/start.mjs", "packages/server/src/main.ts"].map((path) => join(resolve(given), path))
  const main = mains.find((path) => existsSync(path))
  if (main === undefined) throw new Error(`${given} holds no server of Tocsin; name its checkout`)
  return { checkout: resolve(given), main }
}

/**
 * Reads the command line. Returns `undefined` after printing help or a list; throws for an invalid
 * option.
 */
export const readOptions = (
  args: ReadonlyArray<string>,
  say: (text: string) => void,
): Options | undefined => {
  const flag = { type: "boolean" } as const
  const text = { type: "string" } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { ...flag, short: "h" },
      list: flag,
      quick: flag,
      seconds: text,
      "warm-up": text,
      repeats: text,
      agents: text,
      large: flag,
      "soak-seconds": text,
      "settle-seconds": text,
      server: text,
      against: text,
      "data-dir": text,
      postgres: text,
      "cpu-prof": text,
      json: text,
      compare: text,
    },
  })
  if (values.help === true || values.list === true) {
    say(values.help === true ? helpText : `${allCases.map(({ name }) => name).join("\n")}\n`)
    return undefined
  }
  const selected = selectCases(positionals)
  if (selected === undefined)
    throw new Error(`no case is called ${positionals.join(" or ")}; --list names them`)
  const cases = values.large === true ? selected.map(enlarged) : selected
  const base = values.quick === true ? QUICK : FULL
  if (values.against !== undefined && cases.some(({ kind }) => kind !== "throughput"))
    throw new Error("--against compares heartbeats, unchanged and changing: name these cases only")
  const agents = positive("agents", values.agents) ?? base.agents
  const connections = Math.max(
    ...cases.flatMap((one) => [
      "connections" in one ? one.connections : 1,
      ...("connectionsOf" in one ? Object.values(one.connectionsOf) : []),
    ]),
  )
  if (agents < connections)
    throw new Error(`--agents must be at least ${connections}, one for each connection`)
  return {
    cases,
    measures: {
      agents,
      warmUpSeconds: positive("warm-up", values["warm-up"]) ?? base.warmUpSeconds,
      seconds: positive("seconds", values.seconds) ?? base.seconds,
      repeats: positive("repeats", values.repeats) ?? base.repeats,
      settleSeconds: positive("settle-seconds", values["settle-seconds"]) ?? base.settleSeconds,
      soakSeconds: positive("soak-seconds", values["soak-seconds"]) ?? base.soakSeconds,
    },
    ...mainOf(values.server ?? HERE),
    against: values.against === undefined ? undefined : mainOf(values.against).main,
    dataFolder: values["data-dir"] === undefined ? undefined : resolve(values["data-dir"]),
    postgres: originOf(values.postgres),
    jsonFile: values.json,
    compareFile: values.compare,
    profileFolder: values["cpu-prof"] === undefined ? undefined : resolve(values["cpu-prof"]),
  }
}

import process from "node:process"
import { parseArgs } from "node:util"
import { DEEP, smallWorlds, wordsOf } from "../worlds/smallWorlds.ts"
import { simulateSystem } from "./simulateSystem.ts"
import { scenarioOf } from "./scenarioOf.ts"

const USAGE = `npm run simulate-faults -- [--seeds N] [--first N] [--seed N] [--worlds]
Plays the whole system on a virtual clock, with faults drawn from each seed.
  --seeds N   how many seeds to play; 300 unless given
  --first N   the first of them; a new one unless given
  --seed N    plays this one and prints its scenario
  --worlds    explores small worlds exhaustively instead; takes minutes and 3 GB of memory
`
const PROGRESS_EVERY = 500

const number = (text: string | undefined, otherwise: number): number => {
  const value = text === undefined ? otherwise : Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} must be a whole number`)
  return value
}

const playAll = async (first: number, seeds: number): Promise<void> => {
  const total = { commits: 0, hours: 0 }
  for (let seed = first; seed < first + seeds; seed++) {
    const simulated = await simulateSystem(seed)
    if (simulated.broken.length > 0) {
      process.stdout.write(`${scenarioOf(simulated)}\n`)
      process.exitCode = 1
      return
    }
    total.commits += simulated.commits
    total.hours += simulated.minutes / 60
    const played = seed - first + 1
    if (played % PROGRESS_EVERY === 0 || played === seeds)
      process.stdout.write(
        `${played} seeds from ${first} on keep every law: ${total.commits} commits in ${Math.round(total.hours)} hours of virtual time\n`,
      )
  }
}

const playOne = async (seed: number): Promise<void> => {
  const simulated = await simulateSystem(seed)
  const isKept = simulated.broken.length === 0
  process.stdout.write(
    `${isKept ? `${simulated.log.join("\n")}\n\nSeed ${seed} keeps every law.` : scenarioOf(simulated)}\n`,
  )
  if (!isKept) process.exitCode = 1
}

const exploreWorlds = (): void => {
  for (const { explore, name } of smallWorlds(DEEP)) {
    const explored = explore()
    process.stdout.write(`${wordsOf(name, explored)}\n`)
    if (explored.broken !== undefined) process.exitCode = 1
  }
}

try {
  const options = {
    seeds: { type: "string" },
    first: { type: "string" },
    seed: { type: "string" },
    worlds: { type: "boolean" },
    help: { type: "boolean" },
  } as const
  const { values } = parseArgs({ options })
  if (values.help === true) process.stdout.write(USAGE)
  else if (values.worlds === true) exploreWorlds()
  else if (values.seed === undefined)
    await playAll(number(values.first, Math.trunc(performance.timeOrigin)), number(values.seeds, 300))
  else await playOne(number(values.seed, 0))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`)
  process.exitCode = 2
}

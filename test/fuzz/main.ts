// `npm run fuzz -- [--minutes N] [--seed N] [--keep] [--replay FILE]`: sends odd requests to servers until the time
// is over or a fault is found.
import process from "node:process"
import { parseArgs } from "node:util"
import { Effect } from "effect"
import prepare from "../processes/bundledPrograms.ts"
import { keepInputs, readInputs } from "./corpus.ts"
import { type RoundResult, runRound } from "./runRound.ts"

const helpText = `Usage: npm run fuzz -- [options]

Sends requests to two servers in memory: valid ones, mutations of them, and of test/fuzz/corpus.jsonl.

Options:
  --minutes N    how long (1)
  --seed N       the inputs of the first round; each further round takes the next number
  --keep         adds inputs with answers of a new kind to the corpus
  --replay FILE  sends the inputs of this file alone, one JSON text a line, as a fault prints them
`

/** New servers after so many inputs, so that their memory and their logs stay small. */
const INPUTS_A_ROUND = 3_000

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    keep: { type: "boolean", default: false },
    replay: { type: "string" },
    help: { type: "boolean", default: false },
  },
})

const say = (text: string): void => void process.stdout.write(`${text}\n`)

const report = ({ faults, sent, found }: RoundResult, about: string): void => {
  say(`${about}: ${sent} inputs, ${found.length} with an answer of a new kind, ${faults.length} faults`)
  for (const fault of faults) say(fault)
  if (faults.length > 0) process.exitCode = 1
}

const rounds = Effect.gen(function* () {
  const end = performance.now() + Number(values.minutes) * 60_000
  let corpus = readInputs()
  for (let seed = Number(values.seed); ; seed += 1) {
    const result = yield* runRound({ seed, count: INPUTS_A_ROUND, corpus, until: end })
    report(result, `seed ${seed}`)
    corpus = [...corpus, ...result.found]
    if (values.keep) keepInputs(result.found)
    if (result.faults.length > 0 || performance.now() > end) return
  }
})

const replay = (file: string) =>
  Effect.map(runRound({ seed: 0, count: 0, corpus: readInputs(file) }), (result) => report(result, file))

if (values.help) process.stdout.write(helpText)
else {
  prepare()
  await Effect.runPromise(values.replay === undefined ? rounds : replay(values.replay))
}

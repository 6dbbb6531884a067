import { readFileSync, writeFileSync } from "node:fs"
import process from "node:process"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Result, Schema } from "effect"
import { BenchFailure } from "./BenchFailure.ts"
import { type Options, readOptions } from "./options.ts"
import { comparison } from "./report/compare.ts"
import { describe, failures, measurements, targets } from "./report/print.ts"
import { Results } from "./report/Results.ts"
import { runBench } from "./runBench.ts"

const say = (text: string): void => void process.stdout.write(text)

const complain = (message: string): void => {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Results))

const readEarlier = (file: string) =>
  Effect.try({
    try: () => decode(readFileSync(file, "utf8")),
    catch: () => new BenchFailure({ message: `${file} is not a file that --json wrote` }),
  })

const bench = Effect.fnUntraced(function* (options: Options) {
  // First, so that a wrong name fails immediately.
  const earlier = options.compareFile === undefined ? undefined : yield* readEarlier(options.compareFile)
  const results = yield* runBench(options, Console.error)
  say(`${describe(results.conditions)}\n\n${measurements(results.cases)}\n\n${targets(results.cases)}\n`)
  if (earlier !== undefined) say(`\n${comparison(earlier, results)}\n`)
  if (options.jsonFile !== undefined) writeFileSync(options.jsonFile, `${JSON.stringify(results, null, 2)}\n`)
  for (const line of failures(results.cases)) complain(line)
}, Effect.scoped)

const options = Result.try(() => readOptions(process.argv.slice(2), say))
if (Result.isFailure(options)) {
  complain(options.failure instanceof Error ? options.failure.message : String(options.failure))
} else if (options.success !== undefined) {
  NodeRuntime.runMain(
    Effect.catch(bench(options.success), ({ message }) => Effect.sync(() => complain(message))),
  )
}

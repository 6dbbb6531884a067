import { join } from "node:path"
import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import type { MutesCase } from "../cases.ts"
import type { MutesCommand } from "../mutes/MutesCommand.ts"
import { worker } from "../processes/worker.ts"
import type { CaseResult, Sample } from "../report/Results.ts"
import { ratio } from "./throughput.ts"

/** Opens incidents with and without the search for silences, in turn, where there is none to find. */
export const measureMutes = Effect.fnUntraced(function* (bench: Bench, one: MutesCase) {
  const { repeats, seconds, warmUpSeconds } = bench.measures
  const process = yield* worker<MutesCommand, Sample>(new URL("../mutes/mutesProcess.ts", import.meta.url))
  const sample = Effect.fnUntraced(function* (looksForSilences: boolean, forSeconds: number) {
    const folder = yield* bench.folder
    const place =
      one.storage === "postgres" ? yield* (yield* bench.postgres).database : join(folder, "tocsin.db")
    return yield* process.ask({ storage: one.storage, place, seconds: forSeconds, looksForSilences })
  }, Effect.scoped)
  yield* sample(true, warmUpSeconds)
  const looking: Array<Sample> = []
  const leftOut: Array<Sample> = []
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    looking.push(yield* sample(true, seconds))
    leftOut.push(yield* sample(false, seconds))
  }
  const result: CaseResult = {
    name: one.name,
    operations: "firings",
    series: [
      { name: "subject", samples: looking, peakMiB: {} },
      { name: "without the search", samples: leftOut, peakMiB: {} },
    ],
    figures: [ratio("× without the search", one.ofLeftOut, looking, leftOut, "server")],
  }
  return result
})

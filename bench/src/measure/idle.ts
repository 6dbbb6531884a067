import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { IdleCase } from "../cases.ts"
import { residentMiB } from "../processes/residentMemory.ts"
import type { CaseResult } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { startServer } from "./target.ts"

/** Starts the server on an empty storage, leaves it alone, and reads its memory. */
const look = Effect.fnUntraced(function* (bench: Bench, one: IdleCase) {
  const { server } = yield* startServer(bench, one.storage)
  yield* Effect.sleep(bench.measures.settleSeconds * 1000)
  const resident = residentMiB(server.pid)
  if (resident === undefined)
    return yield* new BenchFailure({ message: "memory is read from /proc, which is not here" })
  return { resident, startMillis: server.startMillis }
}, Effect.scoped)

/** Measures starts, and the memory of a server with nothing to do. */
export const measureIdle = Effect.fnUntraced(function* (bench: Bench, one: IdleCase) {
  const looks = yield* Effect.replicateEffect(look(bench, one), bench.measures.repeats)
  const resident = looks.map((seen) => seen.resident)
  const result: CaseResult = {
    name: one.name,
    operations: "starts",
    series: [],
    figures: [
      { name: "MiB idle", value: median(resident), target: { bound: "at most", value: one.mostMiB } },
      { name: "ms to ready", value: median(looks.map(({ startMillis }) => startMillis)) },
    ],
  }
  return result
})

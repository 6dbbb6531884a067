import { Effect, Fiber, Schedule } from "effect"
import type { Bench } from "../Bench.ts"
import type { SoakCase } from "../cases.ts"
import { residentMiB } from "../processes/residentMemory.ts"
import type { CaseResult } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { failureOf, sampleOf, subject } from "./target.ts"

/** The middle of the part from `from` to `to`, in tenths. */
const medianOfTenths = (values: ReadonlyArray<number>, from: number, to: number): number =>
  median(values.slice(Math.floor((values.length * from) / 10), Math.ceil((values.length * to) / 10)))

/** Loads the server for a long time and looks at its memory once a second. */
export const measureSoak = Effect.fnUntraced(function* (bench: Bench, one: SoakCase) {
  const { soakSeconds, warmUpSeconds } = bench.measures
  const { load, connections, mostMiB, growth } = one
  const service = yield* subject(bench, one.storage)
  const memory: Array<number> = []
  const watch = yield* Effect.sync(() => {
    const resident = residentMiB(service.server.pid)
    if (resident !== undefined) memory.push(resident)
  }).pipe(Effect.repeat(Schedule.spaced("1 second")), Effect.forkChild)
  const ran = yield* service.run({ load, connections, warmUpSeconds, seconds: soakSeconds })
  yield* Fiber.interrupt(watch)
  const peakMiB = service.peakMiB()
  const failure = failureOf(load, [ran])
  const result: CaseResult = {
    name: one.name,
    operations: "heartbeats and results",
    series: [{ name: "subject", samples: [sampleOf(ran)], peakMiB }],
    figures: [
      {
        name: "MiB at most",
        value: peakMiB["server"] ?? Number.NaN,
        target: { bound: "at most", value: mostMiB },
      },
      {
        name: "last ÷ second tenth",
        value: medianOfTenths(memory, 9, 10) / medianOfTenths(memory, 1, 2),
        target: { bound: "at most", value: growth },
      },
    ],
    memoryMiB: memory,
    ...(failure !== undefined && { failure }),
  }
  return result
})

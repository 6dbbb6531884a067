import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { WorkersCase } from "../cases.ts"
import { enrol } from "../load/enrol.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import { processTree } from "../processes/cpuSeconds.ts"
import type { CaseResult, Figure, Sample, Series } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { failureOf, newKeys, sampleOf, startServer, target } from "./target.ts"

const named = (workers: number): string => (workers === 1 ? "1 worker" : `${workers} workers`)

/** A server with so many workers; its processes are watched one by one, too. */
const start = Effect.fnUntraced(function* (bench: Bench, workers: number) {
  const { postgres, server } = yield* startServer(bench, "postgres", { SERVICE_WORKERS: String(workers) })
  const keys = newKeys(bench.measures.agents)
  yield* enrol(server, keys)
  const [, ...children] = processTree(server.pid)
  if (workers > 1 && children.length !== workers)
    return yield* new BenchFailure({ message: `${children.length} of ${workers} workers were found` })
  const each = workers === 1 ? [server.pid] : children
  const watched = {
    server: server.pid,
    ...Object.fromEntries(each.map((pid, index) => [`worker ${index + 1}`, pid])),
    ...(postgres !== undefined && { postgres: postgres.pid }),
  }
  return { workers, results: new Array<LoadResult>(), ...(yield* target([server.port], keys, watched)) }
})

const medianOf = (samples: ReadonlyArray<Sample>, read: (sample: Sample) => number): number =>
  median(samples.map(read))

/** The processor time of the worker that has most to do. */
const busiest = ({ cpuMicros }: Sample): number =>
  Math.max(
    ...Object.entries(cpuMicros).flatMap(([name, micros]) => (name.startsWith("worker") ? micros : [])),
  )

/** What a server answers whose workers each have a core, while PostgreSQL and the load have others. */
const rateOfCores = (samples: ReadonlyArray<Sample>): number => 1e6 / medianOf(samples, busiest)

/** Measures one server process and several workers, in turn, each on its own database. */
export const measureWorkers = Effect.fnUntraced(function* (bench: Bench, one: WorkersCase) {
  const { repeats, seconds, warmUpSeconds } = bench.measures
  const servers = [yield* start(bench, 1), yield* start(bench, one.workers)] as const
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    for (const { results, run } of servers)
      results.push(yield* run({ load: one.load, connections: one.connections, warmUpSeconds, seconds }))
  }
  const [alone, together] = servers.map(({ results }) => results.map(sampleOf))
  if (alone === undefined || together === undefined) return yield* Effect.die(new Error("no servers"))
  const figures = servers.flatMap(({ results, workers }): ReadonlyArray<Figure> => {
    const samples = results.map(sampleOf)
    const rate = rateOfCores(samples)
    const ofPostgres = medianOf(samples, ({ cpuMicros }) => cpuMicros["postgres"] ?? Number.NaN)
    return [
      { name: `${named(workers)}, own cores: a second`, value: rate },
      { name: `${named(workers)}, own cores: cores of PostgreSQL`, value: (rate * ofPostgres) / 1e6 },
    ]
  })
  const failure = failureOf(
    one.load,
    servers.flatMap(({ results }) => results),
  )
  const result: CaseResult = {
    name: one.name,
    operations: one.load[0] === "heartbeat" ? "heartbeats" : "results",
    series: [
      { name: "subject", samples: alone, peakMiB: servers[0].peakMiB() },
      ...servers.slice(1).map(({ workers }): Series => ({
        name: named(workers),
        samples: together,
        peakMiB: {},
      })),
    ],
    figures: [
      {
        name: `${named(one.workers)} × one`,
        value:
          medianOf(together, ({ perSecond }) => perSecond) / medianOf(alone, ({ perSecond }) => perSecond),
        byCpu: rateOfCores(together) / rateOfCores(alone),
      },
      ...figures,
    ],
    ...(failure !== undefined && { failure }),
  }
  return result
})

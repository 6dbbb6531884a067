import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import type { ScaleOutCase } from "../cases.ts"
import { enrol } from "../load/enrol.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import { tocsin } from "../processes/tocsin.ts"
import type { CaseResult, Figure, Sample, Series } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { failureOf, newKeys, sampleOf, target } from "./target.ts"

const named = (servers: number): string => (servers === 1 ? "1 server" : `${servers} servers`)

/** Processor time of all servers together, as one. */
const asOneServer = (sample: Sample): Sample => {
  const { load, postgres, ...servers } = sample.cpuMicros
  const server = Object.values(servers).reduce((sum, micros) => sum + micros, 0)
  return {
    ...sample,
    cpuMicros: {
      server,
      ...(load !== undefined && { load }),
      ...(postgres !== undefined && { postgres }),
    },
  }
}

const rate = (samples: ReadonlyArray<Sample>) => median(samples.map(({ perSecond }) => perSecond))

/**
 * Measures one server, two, and so on, in turn, all on one database. An agent stays with one
 * server.
 */
export const measureScaleOut = Effect.fnUntraced(function* (bench: Bench, one: ScaleOutCase) {
  const { agents, repeats, seconds, warmUpSeconds } = bench.measures
  const postgres = yield* bench.postgres
  const databaseUrl = yield* postgres.database
  const servers = yield* Effect.forEach(
    Array.from({ length: one.servers }),
    Effect.fnUntraced(function* () {
      const folder = yield* bench.folder
      return yield* tocsin({ main: bench.main, folder, databaseUrl, profileFolder: bench.profileFolder })
    }),
  )
  const [first] = servers
  if (first === undefined) return yield* Effect.die(new Error("a case of no servers"))
  const keys = newKeys(agents)
  yield* enrol(first, keys)
  const watched = Object.fromEntries(servers.map(({ pid }, index) => [`server ${index + 1}`, pid]))
  const ports = servers.map(({ port }) => port)
  const together = yield* target(ports, keys, { ...watched, postgres: postgres.pid })
  const results = servers.map((): Array<LoadResult> => [])
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    for (const [index, found] of results.entries()) {
      const pressure = { load: one.load, connections: one.connections, warmUpSeconds, seconds }
      found.push(yield* together.run({ ...pressure, ports: ports.slice(0, index + 1) }))
    }
  }
  const series: ReadonlyArray<Series> = results.map((found, index) => ({
    name: index === 0 ? "subject" : named(index + 1),
    samples: found.map((result) => asOneServer(sampleOf(result))),
    peakMiB: {},
  }))
  const alone = rate(series[0]?.samples ?? [])
  const figures = series
    .slice(1)
    .map(({ name, samples }): Figure => ({ name: `${name} × one`, value: rate(samples) / alone }))
  const failure = failureOf(one.load, results.flat())
  const result: CaseResult = {
    name: one.name,
    operations: one.load[0] === "heartbeat" ? "heartbeats" : "results",
    series,
    figures,
    ...(failure !== undefined && { failure }),
  }
  return result
})

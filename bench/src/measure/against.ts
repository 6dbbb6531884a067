import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { seedPostgres } from "../../seed/seedPostgres.ts"
import { seedSqlite } from "../../seed/seedSqlite.ts"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { FeaturesCase, GrowthCase, ThroughputCase } from "../cases.ts"
import { callApi } from "../load/callApi.ts"
import { admit, enrolFailing } from "../load/enrol.ts"
import { EVENTS_PER_BATCH, type Load } from "../load/Load.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import { policySetting, routesSetting } from "../load/stormPolicy.ts"
import type { CaseResult, Figure, Sample } from "../report/Results.ts"
import { median, quantile } from "../statistics.ts"
import { notified } from "./settled.ts"
import { failureOf, newKeys, type Place, sampleOf, type Subject, subject } from "./target.ts"

/** More than what two measurements of one build differ by. */
const MOST = 1.1

/** Rows of history are up to 90 days old. Agents that send nothing stay well: a hundred thousand take minutes to admit. */
const UNCHANGING = {
  SERVICE_RETENTION_HISTORY: "400d",
  SERVICE_STALE_AFTER: "6d",
  SERVICE_DEAD_AFTER: "7d",
}

const microsOf = ({ cpuMicros }: Sample): number => (cpuMicros["server"] ?? 0) + (cpuMicros["postgres"] ?? 0)

/** Two servers, the most that the first may take as a multiple of the other, and what the other is called. */
interface Pair {
  readonly ours: Subject
  readonly theirs: Subject
  readonly other: string
  readonly most: number
}

/**
 * Measures two servers in turn, by the processor time of server and database for each operation. Every second pair
 * begins with the other one, so that neither gains by its place.
 */
const measurePair = Effect.fnUntraced(function* (
  bench: Bench,
  one: { readonly name: string; readonly load: Load; readonly connections: number },
  pair: Pair,
) {
  const { warmUpSeconds, seconds, repeats } = bench.measures
  const { load, connections } = one
  const ours = { target: pair.ours, results: Array<LoadResult>() }
  const theirs = { target: pair.theirs, results: Array<LoadResult>() }
  // The first time compilers are still at work.
  for (const { target } of [ours, theirs])
    yield* target.run({ load, connections, seconds: warmUpSeconds, warmUpSeconds })
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    for (const { target, results } of repeat % 2 === 1 ? [ours, theirs] : [theirs, ours])
      results.push(yield* target.run({ load, connections, seconds, warmUpSeconds }))
  }
  const samples = ours.results.map(sampleOf)
  const others = theirs.results.map(sampleOf)
  const ratios = samples.flatMap((sample, index) => {
    const other = others[index]
    return other === undefined ? [] : [microsOf(sample) / microsOf(other)]
  })
  const figures: ReadonlyArray<Figure> = [
    { name: `µs × ${pair.other}`, value: median(ratios), target: { bound: "at most", value: pair.most } },
    { name: "the least of a pair", value: quantile(ratios, 0) },
    { name: "the most of a pair", value: quantile(ratios, 1) },
  ]
  const failure = failureOf(load, [...ours.results, ...theirs.results])
  const result: CaseResult = {
    name: one.name,
    operations: load[0] === "heartbeat" ? "heartbeats" : "results",
    series: [
      { name: "subject", samples, peakMiB: ours.target.peakMiB() },
      { name: pair.other, samples: others, peakMiB: theirs.target.peakMiB() },
    ],
    figures,
    ...(failure !== undefined && { failure }),
  }
  return result
})

/** Measures a server and that of another checkout. */
export const measureAgainst = Effect.fnUntraced(function* (bench: Bench, one: ThroughputCase, main: string) {
  const ours = yield* subject(bench, one.storage)
  const theirs = yield* subject(bench, one.storage, undefined, main)
  return yield* measurePair(bench, one, { ours, theirs, other: "the other", most: MOST })
})

/** Measures a server with a policy of routes, rotas and pages, and with numbers, and one without. */
export const measureFeatures = Effect.fnUntraced(function* (bench: Bench, one: FeaturesCase) {
  const ours = yield* subject(bench, one.storage, policySetting(yield* bench.folder, "features"))
  const theirs = yield* subject(bench, one.storage, { SERVICE_NUMBERS_SERIES: "0" })
  return yield* measurePair(bench, one, { ours, theirs, other: "no features", most: one.most })
})

/** Fills a storage with so many rows of history of 1,000 checks. */
const fillHistory =
  (bench: Bench, history: number) =>
  ({ dataFolder, databaseUrl }: Place) =>
    Effect.gen(function* () {
      yield* bench.tell(`filling a storage with ${history} rows of history …`)
      const size = { agents: 100, checks: 1_000, history, incidents: 1_000, outbox: 1_000 }
      const options = { size, now: BigInt(Date.now()) * 1_000n, report: () => {} }
      mkdirSync(dataFolder)
      const filled =
        databaseUrl === undefined
          ? () => seedSqlite(join(dataFolder, "tocsin.db"), options)
          : () => seedPostgres(databaseUrl, options)
      yield* Effect.tryPromise({
        try: filled,
        catch: (cause) => new BenchFailure({ message: `no rows of history: ${String(cause)}` }),
      })
    })

/** A server that has so many of what a case is about, besides the agents of the load. */
const withMany = Effect.fnUntraced(function* (
  bench: Bench,
  { name, of, storage }: GrowthCase,
  count: number,
) {
  const setting = of === "routes" ? routesSetting(yield* bench.folder, count) : UNCHANGING
  const fill = of === "history" ? fillHistory(bench, count) : undefined
  const made = yield* subject(bench, storage, setting, bench.main, fill)
  const first = bench.measures.agents
  if (of === "agents" && count > 0) yield* admit(made.server, newKeys(count), first)
  if (of === "incidents" && count > 0) {
    const { port, token } = made.server
    yield* enrolFailing(made.server, newKeys(count / EVENTS_PER_BATCH), first)
    yield* notified(name, callApi({ port, token, path: "/api/v1/notifiers/outbox?state=pending&limit=1" }))
  }
  return made
})

/** Measures a server that has many agents, open incidents or routes, and one that has few. */
export const measureGrowth = Effect.fnUntraced(function* (bench: Bench, one: GrowthCase) {
  const ours = yield* withMany(bench, one, one.many)
  const theirs = yield* withMany(bench, one, one.few)
  return yield* measurePair(bench, one, { ours, theirs, other: `${one.few} ${one.of}`, most: one.most })
})

import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import { EVENTS_PER_BATCH } from "../load/Load.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import type { ReaderCommand, ReaderReply } from "../load/Reader.ts"
import type { Tocsin } from "../processes/tocsin.ts"
import { worker } from "../processes/worker.ts"
import type { Figure, Sample, Series } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { sampleOfReads } from "./largeStorm.ts"
import { sampleOf, type Target } from "./target.ts"

const RESULTS_A_SECOND = 5_000
const READERS_A_SECOND = 1_000
const CONNECTIONS = 32

/** The lists of the console's first page; each is read so often. */
const LISTS = ["/ops/v1/incidents?state=open", "/ops/v1/checks", "/ops/v1/agents"]
const LIST_EVERY_MILLIS = 60

interface Round {
  readonly results: LoadResult
  /** The readers of the page, if any. */
  readonly pages?: LoadResult | undefined
  readonly lists: Sample
}

/** The median of the second part of each round as a multiple of the first. */
const times = (
  name: string,
  rounds: ReadonlyArray<readonly [alone: Round, beside: Round]>,
  of: (round: Round) => number | undefined,
): Figure => ({
  name,
  value: median(rounds.map(([alone, beside]) => (of(beside) ?? Number.NaN) / (of(alone) ?? Number.NaN))),
})

/** Measures results and an operator's lists at a fixed rate, in turn without and with readers of a page. */
export const measureBesideReaders = Effect.fnUntraced(function* (
  { measures: { repeats, seconds, warmUpSeconds } }: Bench,
  { port, token }: Tocsin,
  agents: Target,
  readers: Target,
) {
  const lists = yield* worker<ReaderCommand, ReaderReply>(
    new URL("../load/readerProcess.ts", import.meta.url),
  )
  const paced = { connections: CONNECTIONS, seconds, warmUpSeconds }
  const results = agents.run({
    ...paced,
    load: ["unchanged"],
    requestsPerSecond: RESULTS_A_SECOND / EVENTS_PER_BATCH,
  })
  const pages = readers.run({
    ...paced,
    load: ["heartbeat"],
    protocol: "statusPages",
    requestsPerSecond: READERS_A_SECOND,
  })
  const round = Effect.fnUntraced(function* (isRead: boolean) {
    const begun = performance.now()
    yield* lists.ask({ type: "start", port, token, paths: LISTS, everyMillis: LIST_EVERY_MILLIS })
    const [taken, read] = yield* Effect.all([results, ...(isRead ? [pages] : [])], {
      concurrency: "unbounded",
    })
    const { firstFailure, millis } = yield* lists.ask({ type: "stop" })
    const spent = (performance.now() - begun) / 1_000
    const found = { results: taken, pages: read, lists: sampleOfReads(millis.flat(), spent) }
    return { found, firstFailure }
  })
  // Compilers are at work in the first one, which does not count.
  yield* round(true)
  const rounds: Array<readonly [Round, Round]> = []
  const failures: Array<string> = []
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    const [alone, beside] = [yield* round(false), yield* round(true)]
    rounds.push([alone.found, beside.found])
    failures.push(...[alone, beside].flatMap(({ firstFailure }) => firstFailure ?? []))
  }
  const [alone, beside] = [rounds.map(([one]) => one), rounds.map(([, one]) => one)]
  const series = (name: string, samples: ReadonlyArray<Sample>): Series => ({ name, samples, peakMiB: {} })
  return {
    loads: rounds.flat().flatMap((one) => [one.results, ...(one.pages === undefined ? [] : [one.pages])]),
    firstFailure: failures[0],
    series: [
      series(
        "results alone",
        alone.map((one) => sampleOf(one.results)),
      ),
      series(
        "results beside readers",
        beside.map((one) => sampleOf(one.results)),
      ),
      series(
        "lists alone",
        alone.map((one) => one.lists),
      ),
      series(
        "lists beside readers",
        beside.map((one) => one.lists),
      ),
      series(
        "readers",
        beside.flatMap(({ pages: read }) => (read === undefined ? [] : [sampleOf(read)])),
      ),
    ],
    figures: [
      times("list p50 × alone", rounds, (one) => one.lists.p50Millis),
      times("list p99 × alone", rounds, (one) => one.lists.p99Millis),
      times("results × alone", rounds, (one) => one.results.operations / one.results.seconds),
      times("result p50 × alone", rounds, (one) => one.results.p50Millis),
      times("result p99 × alone", rounds, (one) => one.results.p99Millis),
    ],
  }
})

import type { ListName, PageRequest, Position } from "@tocsin/core/lists/ListDefinitions"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Clock, Effect } from "effect"
import { deepPosition, rowsOf, type RunSql } from "./deepPosition.ts"
import { type AnyQuery, everyQuery, nameOf } from "./listings.ts"

/** The cost of a list at its start and deep inside. */
export interface DepthOfList {
  readonly name: string
  /** The number of the deep page, from 1: the last full one, at most 10,000. */
  readonly page: number
  readonly firstMillis: number
  readonly deepMillis: number
}

/** The cost of reading at the size of a storage. */
export interface Depth {
  readonly lists: ReadonlyArray<DepthOfList>
  /** Median of summaries asked for one after the other, and the slowest of them. */
  readonly summaryMillis: number
  readonly slowestSummaryMillis: number
}

interface DepthOptions {
  readonly storage: Storage["Service"]
  readonly run: RunSql
  /** Agents last seen after this are online. */
  readonly aliveSince: Parameters<Storage["Service"]["counts"]>[0]
  /** The clock of the storage. */
  readonly clock: Clock.Clock
  readonly rounds: number
  readonly report: (line: string) => void
}

const PAGE = 100
const DEEP_PAGE = 10_000

/**
 * The reads in one reading, which is their mean: a page takes less than the clock and the machine
 * are good for.
 */
const READS_AT_ONCE = 5

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const timed = async (clock: Clock.Clock, effect: Effect.Effect<unknown, unknown>): Promise<number> => {
  const start = performance.now()
  await Effect.runPromise(Effect.provideService(effect, Clock.Clock, clock))
  return performance.now() - start
}

const measureList = async (
  { storage, run, clock, rounds }: DepthOptions,
  query: AnyQuery,
): Promise<DepthOfList | undefined> => {
  const page = Math.min(DEEP_PAGE, Math.floor((await rowsOf(run, query)) / PAGE))
  if (page < 2) return undefined
  const deep = await deepPosition(run, query, (page - 1) * PAGE)
  const read = async (from: Position | undefined) => {
    // The query belongs to the list that it names.
    const request = { ...query, from, isBackward: false, limit: PAGE + 1 } as PageRequest<ListName>
    return (
      (await timed(clock, Effect.repeat(storage.page(request), { times: READS_AT_ONCE - 1 }))) / READS_AT_ONCE
    )
  }
  const [first, later]: [Array<number>, Array<number>] = [[], []]
  for (let round = -1; round < rounds; round += 1) {
    const [one, other] = [await read(undefined), await read(deep)]
    if (round < 0) continue
    first.push(one)
    later.push(other)
  }
  return {
    name: nameOf(query),
    page,
    firstMillis: median(first),
    deepMillis: median(later),
  }
}

/** Sets of several filters merge no other ranges of an index than sets of one, only fewer. */
const hasFewFilters = ({ filter }: AnyQuery): boolean =>
  Object.values(filter).filter((value) => value !== undefined).length <= 1

/**
 * Measures each list that has two pages or more, its first page and a deep one in turn, and the
 * summary.
 */
export const measureDepth = async (options: DepthOptions): Promise<Depth> => {
  const lists: Array<DepthOfList> = []
  for (const query of everyQuery.filter(hasFewFilters)) {
    const measured = await measureList(options, query)
    if (measured === undefined) continue
    lists.push(measured)
    const { name, page, firstMillis, deepMillis } = measured
    options.report(
      `${name}: page 1 ${firstMillis.toFixed(1)} ms, page ${page} ${deepMillis.toFixed(1)} ms (${(deepMillis / firstMillis).toFixed(2)})`,
    )
  }
  const summaries: Array<number> = []
  for (let round = 0; round < options.rounds; round += 1) {
    summaries.push(await timed(options.clock, options.storage.counts(options.aliveSince)))
  }
  return { lists, summaryMillis: median(summaries), slowestSummaryMillis: Math.max(...summaries) }
}

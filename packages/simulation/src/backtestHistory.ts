import type {
  Backtested,
  BacktestedPolicy,
  BacktestRequest,
  PolicyCounts,
} from "@tocsin/core/ports/PolicySource"
import type { CopySource } from "@tocsin/core/ports/Storage"
import { Effect, type Scope } from "effect"
import type * as Instant from "@tocsin/contract/Instant"
import type { PastEntry, TrialOptions } from "./Backtest.ts"
import { type PastReader, readAgents, readHistory } from "./readHistory.ts"

/** The trial of one policy, while the past is read. */
export interface Trial {
  /** Returns once there is room for more. */
  readonly take: (entries: ReadonlyArray<PastEntry>) => Effect.Effect<void>
  readonly end: (until: Instant.Instant) => Effect.Effect<PolicyCounts>
}

/** The past as it is read from a storage. */
export type HistoryOptions = Pick<TrialOptions, "agents" | "since" | "staleAfter">

interface HistoryBacktest
  extends Omit<BacktestRequest, "most">, Pick<PastReader, "most">, Partial<Pick<PastReader, "report">> {
  readonly start: (
    policy: BacktestedPolicy,
    options: HistoryOptions,
  ) => Effect.Effect<Trial, never, Scope.Scope>
}

const ofBoth = { concurrency: "unbounded" } as const

/** Plays two policies on the history of a snapshot, which is read once. */
export const backtestHistory = Effect.fnUntraced(function* (
  source: CopySource,
  { inForce, most, report = () => {}, since, staleAfter, start, tried, until }: HistoryBacktest,
) {
  const agents = yield* readAgents(source)
  const options = { agents, since, staleAfter }
  const [before, after] = yield* Effect.all([start(inForce, options), start(tried, options)])
  const past = yield* readHistory(source, {
    agents,
    most,
    report,
    until,
    take: (entries) => Effect.all([before.take(entries), after.take(entries)], { ...ofBoth, discard: true }),
  })
  const [counts, triedCounts] = yield* Effect.all([before.end(until), after.end(until)], ofBoth)
  return { inForce: counts, tried: triedCounts, past } satisfies Backtested
}, Effect.scoped)

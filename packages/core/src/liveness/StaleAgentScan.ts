import { Effect, Semaphore } from "effect"
import type { AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Command } from "../unitOfWork/Decision.ts"
import type { SummaryCounts } from "../ports/Storage.ts"

/**
 * How many quiet agents a scan remembers. Each summary reads these rows again, which takes two
 * milliseconds. In a healthy system no accepted agent is quiet for half of the stale threshold.
 */
export const QUIET_KEPT = 1_000

export interface Pass {
  /**
   * Accepted agents without a heartbeat incident. All others were accepted, or seen, after `bound`.
   */
  readonly quiet: ReadonlyArray<AgentId>
  /** The requested bound, or an earlier one if more than `QUIET_KEPT` agents are quiet. */
  readonly bound: Instant.Instant
  /** Whether all agents that were last seen by the requested bound are remembered, whenever they were accepted. */
  readonly isWhole: boolean
  /** When an agent with a heartbeat incident was last seen; absent if there is none. */
  readonly deadSeenAt: Instant.Instant | undefined
}

/** An agent, and when it was accepted or last seen, whichever is later. */
export interface QuietAgent {
  readonly agent_id: AgentId
  readonly quiet_since: Instant.Instant
}

/** Longest quiet first. Agents that were accepted a moment ago take the place of no other. */
export const byQuiet = (a: QuietAgent, b: QuietAgent): number => (a.quiet_since < b.quiet_since ? -1 : 1)

/** Makes the result of a pass from the agents last seen by its bound, of which the longest quiet are enough. */
export const makePass = (
  quiet: ReadonlyArray<QuietAgent>,
  { bound, deadSeenAt }: Pick<Pass, "bound" | "deadSeenAt">,
): Pass => {
  const sorted = quiet.toSorted(byQuiet)
  const forgotten = sorted[QUIET_KEPT]
  return {
    quiet: sorted.slice(0, QUIET_KEPT).map(({ agent_id }) => agent_id),
    bound:
      forgotten === undefined ? bound : Instant.min(bound, Instant.fromMicros(forgotten.quiet_since - 1n)),
    isWhole: forgotten === undefined,
    deadSeenAt,
  }
}

/** Running totals, which the storage keeps with each change. */
export interface SystemTotals extends Omit<SummaryCounts, "agents_online" | "agents_offline"> {
  readonly agents_accepted: number
  /** Accepted agents with a heartbeat incident: none was seen since it opened. */
  readonly agents_dead: number
  /** How often an agent became accepted: only then can an agent be quiet that no scan has seen. */
  readonly acceptances: number
}

/** The reads that silence scans need from a storage. Each reads committed data. */
export interface StaleAgentScanReads<E> {
  readonly acceptances: Effect.Effect<number, E>
  /** Passes over all agents, in steps that block nothing. */
  readonly pass: (bound: Instant.Instant) => Effect.Effect<Pass, E>
  /**
   * Those of `among` that were accepted and last seen at `seenBefore` or earlier, and are not dead; at most
   * `limit`, ascending by ID.
   */
  readonly silent: (
    among: ReadonlyArray<AgentId>,
    seenBefore: Instant.Instant,
    limit: number,
  ) => Effect.Effect<ReadonlyArray<AgentId>, E>
  /** At one moment: the totals, and how many of `among` were last seen by then, whenever they were accepted. */
  readonly look: (
    among: ReadonlyArray<AgentId>,
    seenBefore: Instant.Instant,
  ) => Effect.Effect<SystemTotals & { readonly agents_silent: number }, E>
  /** At one moment: the totals, and how many of all agents are offline, at any cost. */
  readonly evaluateAll: (
    aliveSince: Instant.Instant,
  ) => Effect.Effect<SystemTotals & { readonly agents_offline: number }, E>
}

/** A pass, and for how long it is valid. */
interface StaleAgentScan extends Pass {
  readonly takenAt: Instant.Instant
  readonly acceptances: number
}

const NOBODY: StaleAgentScan = {
  takenAt: Instant.fromMicros(0n),
  bound: Instant.fromMicros(-1n),
  quiet: [],
  isWhole: true,
  deadSeenAt: undefined,
  acceptances: -1,
}

/**
 * The middle between two moments. A scan with this bound answers later questions for as long again.
 */
const middle = (since: Instant.Instant, now: Instant.Instant): Instant.Instant =>
  now > since ? Instant.fromMicros(since + (now - since) / 2n) : since

/** Whether a scan remembers every agent that was silent since this moment. */
const reaches = (
  scan: StaleAgentScan,
  since: Instant.Instant,
  now: Instant.Instant,
  acceptances: number,
): boolean => since <= scan.bound && now >= scan.takenAt && acceptances === scan.acceptances

/** Whether a recent scan found more quiet agents than it could remember. */
const isCrowded = (scan: StaleAgentScan, since: Instant.Instant, now: Instant.Instant): boolean =>
  !scan.isWhole && now >= scan.takenAt && scan.takenAt > middle(since, now)

/**
 * Finds silent agents and counts online ones, without a pass over all agents each time and without
 * an index that every heartbeat would move. An agent seen after a moment cannot have been silent
 * since that moment. So one pass, which remembers the few quiet agents, answers all questions about
 * moments before its bound by reading those few again. The next pass is due when a question exceeds
 * the bound, when an agent was accepted meanwhile (it may have been quiet before), or when a
 * command ran at a time before the bound (the clock was set back).
 */
export const makeStaleAgentScans = <E>(reads: StaleAgentScanReads<E>) => {
  let last = NOBODY
  const turn = Semaphore.makeUnsafe(1)
  // The latest bound of the last scan and of the one in progress, and how often a command ran at or
  // before it.
  let guarded = NOBODY.bound
  let slips = 0

  const pass = Effect.fnUntraced(function* (since: Instant.Instant, now: Instant.Instant) {
    const bound = middle(since, now)
    guarded = Instant.max(guarded, bound)
    const slipsBefore = slips
    // Counted before the first agent is read, so that later acceptances show.
    const acceptances = yield* reads.acceptances
    const found = { ...(yield* reads.pass(bound)), takenAt: now, acceptances }
    last = slips === slipsBefore ? found : NOBODY
  })

  /**
   * An agent seen at this moment or earlier may be quiet without being remembered, so the next
   * question needs a pass.
   */
  const decidedAt = (now: Instant.Instant): void => {
    if (now > guarded) return
    guarded = NOBODY.bound
    last = NOBODY
    slips += 1
  }

  /** Runs another scan, unless one is already running. */
  const take = (since: Instant.Instant, now: Instant.Instant): Effect.Effect<void, E> => {
    const before = last
    return turn.withPermit(Effect.suspend(() => (last === before ? pass(since, now) : Effect.void)))
  }

  const countByLast = Effect.fnUntraced(function* (aliveSince: Instant.Instant, now: Instant.Instant) {
    const scan = last
    // With other settings, an agent declared dead may count as alive.
    if (scan.deadSeenAt !== undefined && scan.deadSeenAt > aliveSince) return undefined
    if (aliveSince > scan.bound || !scan.isWhole) return undefined
    const { agents_silent, ...totals } = yield* reads.look(scan.quiet, aliveSince)
    if (!reaches(scan, aliveSince, now, totals.acceptances)) return undefined
    return toCounts({ ...totals, agents_offline: totals.agents_dead + agents_silent })
  })

  return {
    /** Watches the time of a command. Every command that may touch agents goes through it. */
    watch:
      <A>(command: Command<A>): Command<A> =>
      (unit, now) => {
        decidedAt(now)
        return command(unit, now)
      },

    /** The summary's counts at one moment; see `Storage.counts`. */
    counts: Effect.fnUntraced(function* (aliveSince: Instant.Instant): Effect.fn.Return<SummaryCounts, E> {
      const now = yield* Instant.now
      let counts = yield* countByLast(aliveSince, now)
      if (counts === undefined && !isCrowded(last, aliveSince, now)) {
        yield* take(aliveSince, now)
        counts = yield* countByLast(aliveSince, now)
      }
      return counts ?? toCounts(yield* reads.evaluateAll(aliveSince))
    }),

    /** Silent agents; see `Storage.staleAgents`. */
    staleAgents: Effect.fnUntraced(function* (
      seenBefore: Instant.Instant,
      limit: number,
    ): Effect.fn.Return<ReadonlyArray<AgentId>, E> {
      const now = yield* Instant.now
      const acceptances = yield* reads.acceptances
      const known = yield* reads.silent(last.quiet, seenBefore, limit)
      if (known.length >= limit || reaches(last, seenBefore, now, acceptances)) return known
      yield* take(seenBefore, now)
      return yield* reads.silent(last.quiet, seenBefore, limit)
    }),
  }
}

const toCounts = ({
  agents_accepted,
  agents_dead: _dead,
  acceptances: _acceptances,
  ...counts
}: SystemTotals & { readonly agents_offline: number }): SummaryCounts => ({
  ...counts,
  agents_online: agents_accepted - counts.agents_offline,
})

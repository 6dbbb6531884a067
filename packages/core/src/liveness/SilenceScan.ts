import { Effect, Semaphore } from "effect"
import type { AgentId } from "../contract/Identifiers.ts"
import * as Instant from "../contract/Instant.ts"
import type { Command } from "../engine/workspace/Decision.ts"
import type { SummaryCounts } from "../ports/StorageCounts.ts"

/**
 * How many agents a silence scan remembers: as many rows are looked up anew at each summary, which takes two milliseconds.
 * In a healthy system no accepted agent is quiet for half of the stale threshold.
 */
export const QUIET_KEPT = 1_000

/** What one pass over all agents tells. */
export interface Pass {
  /** Accepted agents without a heartbeat incident that were last seen at `bound` or earlier. All others were seen later. */
  readonly quiet: ReadonlyArray<AgentId>
  /** The `bound` that was asked for, or an earlier one where more agents than `QUIET_KEPT` were quiet. */
  readonly bound: Instant.Instant
  /** When one of the agents with a heartbeat incident was last seen; absent where there is none. */
  readonly deadSeenAt: Instant.Instant | undefined
}

/** When an agent was last seen. */
export interface Seen {
  readonly agent_id: AgentId
  readonly last_seen_at: Instant.Instant
}

/** Longest silent first. */
export const bySeen = (a: Seen, b: Seen): number => (a.last_seen_at < b.last_seen_at ? -1 : 1)

/** What a pass tells that found these agents quiet, more of them than are remembered where there are as many. */
export const makePass = (
  quiet: ReadonlyArray<Seen>,
  { bound, deadSeenAt }: Pick<Pass, "bound" | "deadSeenAt">,
): Pass => {
  const sorted = quiet.toSorted(bySeen)
  const forgotten = sorted[QUIET_KEPT]
  return {
    quiet: sorted.slice(0, QUIET_KEPT).map(({ agent_id }) => agent_id),
    bound: forgotten === undefined ? bound : Instant.fromMicros(forgotten.last_seen_at - 1n),
    deadSeenAt,
  }
}

/** Running totals, as the storage keeps them with each change. */
export interface SystemTotals extends Omit<SummaryCounts, "agents_online" | "agents_offline"> {
  readonly agents_accepted: number
  /** Accepted agents that have a heartbeat incident: none of them was heard of since it opened. */
  readonly agents_dead: number
  /** How often an agent became accepted so far: the one way in which an agent can have been quiet all along. */
  readonly acceptances: number
}

/** How a storage reads what silence scans are made of. Each reads what is committed. */
export interface SilenceScanReads<E> {
  /** How often an agent became accepted so far. */
  readonly acceptances: Effect.Effect<number, E>
  /** Goes through all agents, in steps that hold up nobody. */
  readonly pass: (bound: Instant.Instant) => Effect.Effect<Pass, E>
  /**
   * Those of some agents that are accepted, not dead, and were last seen at `seenBefore` or earlier; at most `limit`,
   * ascending by id.
   */
  readonly silent: (
    among: ReadonlyArray<AgentId>,
    seenBefore: Instant.Instant,
    limit: number,
  ) => Effect.Effect<ReadonlyArray<AgentId>, E>
  /** At one moment: the totals, and how many of some agents are silent in that sense. */
  readonly look: (
    among: ReadonlyArray<AgentId>,
    seenBefore: Instant.Instant,
  ) => Effect.Effect<SystemTotals & { readonly agents_silent: number }, E>
  /** At one moment: the totals, and how many of all agents are offline, whatever that takes. */
  readonly lookAtAll: (
    aliveSince: Instant.Instant,
  ) => Effect.Effect<SystemTotals & { readonly agents_offline: number }, E>
}

/** What a silence scan told, and until when that helps. */
interface SilenceScan extends Pass {
  readonly takenAt: Instant.Instant
  readonly acceptances: number
}

const NOBODY: SilenceScan = {
  takenAt: Instant.fromMicros(0n),
  bound: Instant.fromMicros(-1n),
  quiet: [],
  deadSeenAt: undefined,
  acceptances: -1,
}

/** The middle between two moments: a silence scan with this bound serves questions like the present one for as long again. */
const middle = (since: Instant.Instant, now: Instant.Instant): Instant.Instant =>
  now > since ? Instant.fromMicros(since + (now - since) / 2n) : since

/** Whether all that were silent since a moment are among those that a silence scan remembers. */
const reaches = (
  call: SilenceScan,
  since: Instant.Instant,
  now: Instant.Instant,
  acceptances: number,
): boolean => since <= call.bound && now >= call.takenAt && acceptances === call.acceptances

/** Whether a silence scan that was taken not long ago found more silent agents than it could remember. */
const isCrowded = (call: SilenceScan, since: Instant.Instant, now: Instant.Instant): boolean =>
  call.quiet.length >= QUIET_KEPT &&
  call.bound < since &&
  now >= call.takenAt &&
  call.takenAt > middle(since, now)

/**
 * Tells how many agents are online, and which have fallen silent, without passing over all of them each time, and without
 * an index that every heartbeat would have to move. An agent that was seen after some moment cannot have been silent since
 * that moment, and none gets quieter but by time: so one pass, which remembers the few that are quiet, answers all
 * questions about moments before its bound by another look at these few. The next pass is due when the moment that is
 * asked for overtakes the bound, when an agent was accepted meanwhile, who may have been quiet before, or when a command was
 * decided before the bound: the clock was set back, and agents may have been seen then.
 */
export const makeSilenceScans = <E>(reads: SilenceScanReads<E>) => {
  let last = NOBODY
  const turn = Semaphore.makeUnsafe(1)
  // The latest bound of the last silence scan and of the one under way, and how often the clock was found at or before it.
  let guarded = NOBODY.bound
  let slips = 0

  const pass = Effect.fnUntraced(function* (since: Instant.Instant, now: Instant.Instant) {
    const bound = middle(since, now)
    guarded = Instant.max(guarded, bound)
    const slipsBefore = slips
    // Counted before the first agent is read: whoever is accepted from here on is noticed.
    const acceptances = yield* reads.acceptances
    const found = { ...(yield* reads.pass(bound)), takenAt: now, acceptances }
    last = slips === slipsBefore ? found : NOBODY
  })

  /** An agent seen at this moment or earlier may be quiet without being remembered: then the next look passes over all. */
  const decidedAt = (now: Instant.Instant): void => {
    if (now > guarded) return
    guarded = NOBODY.bound
    last = NOBODY
    slips += 1
  }

  /** Takes another silence scan, unless someone else does so just now. */
  const take = (since: Instant.Instant, now: Instant.Instant): Effect.Effect<void, E> => {
    const before = last
    return turn.withPermit(Effect.suspend(() => (last === before ? pass(since, now) : Effect.void)))
  }

  const countByLast = Effect.fnUntraced(function* (aliveSince: Instant.Instant, now: Instant.Instant) {
    const call = last
    // Whom other settings once declared dead may be alive by the present ones.
    if (call.deadSeenAt !== undefined && call.deadSeenAt > aliveSince) return undefined
    if (aliveSince > call.bound) return undefined
    const { agents_silent, ...totals } = yield* reads.look(call.quiet, aliveSince)
    if (!reaches(call, aliveSince, now, totals.acceptances)) return undefined
    return toCounts({ ...totals, agents_offline: totals.agents_dead + agents_silent })
  })

  return {
    /** The same command, whose moment is noticed. Every command that may see agents goes through it. */
    watch:
      <A>(command: Command<A>): Command<A> =>
      (workspace, now) => {
        decidedAt(now)
        return command(workspace, now)
      },

    /** The summary's counts, all of one moment; see `Storage.counts`. */
    counts: Effect.fnUntraced(function* (aliveSince: Instant.Instant): Effect.fn.Return<SummaryCounts, E> {
      const now = yield* Instant.now
      let counts = yield* countByLast(aliveSince, now)
      if (counts === undefined && !isCrowded(last, aliveSince, now)) {
        yield* take(aliveSince, now)
        counts = yield* countByLast(aliveSince, now)
      }
      return counts ?? toCounts(yield* reads.lookAtAll(aliveSince))
    }),

    /** Agents that have fallen silent; see `Storage.silentAgents`. */
    silentAgents: Effect.fnUntraced(function* (
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

import { Clock, Effect, type Scope } from "effect"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import type { Storage, StorageError, SummaryCounts } from "../../kernel/ports/Storage.ts"
import { topic } from "../../kernel/topics/Topics.ts"

const AGENTS = topic("agents")

/** Many consoles ask each second, and a count reads 100,000 agents in 10 to 30 ms. */
const KEPT_NANOS = 1_000_000_000n

const NANOS_PER_MICRO = 1_000n

interface Question {
  readonly aliveSince: Instant
  readonly monotonicNanos: bigint
  /** How many commands of this process had changed agents when it was asked. */
  readonly changes: number
}

/** Whether the agents counted for `before` answer `now`: within a second by both clocks, without a known change. */
const isRecent = (before: Question, now: Question): boolean => {
  const later = (now.aliveSince - before.aliveSince) * NANOS_PER_MICRO
  return (
    before.changes === now.changes &&
    now.monotonicNanos - before.monotonicNanos < KEPT_NANOS &&
    later >= 0n &&
    later < KEPT_NANOS
  )
}

const acceptedIn = ({ agents_offline, agents_online }: SummaryCounts): number =>
  agents_online + agents_offline

/**
 * The counts of `Storage.counts`, whose number of offline agents is kept for a second. It is counted again once this
 * process changed an agent otherwise than by a heartbeat in time, or the number of accepted agents differs.
 */
export const keptCounts = Effect.fnUntraced(function* (
  storage: Pick<Storage["Service"], "counts">,
  { listen }: Pick<Commits["Service"], "listen">,
): Effect.fn.Return<(aliveSince: Instant) => Effect.Effect<SummaryCounts, StorageError>, never, Scope.Scope> {
  let changes = 0
  let kept: { readonly question: Question; readonly counts: SummaryCounts } | undefined
  yield* listen({
    committed: ({ topics }) => {
      if ((topics & AGENTS) !== 0) changes += 1
    },
  })
  return Effect.fnUntraced(function* (aliveSince) {
    const last = kept
    const question = { aliveSince, changes, monotonicNanos: yield* Clock.monotonicTimeNanos }
    if (last !== undefined && isRecent(last.question, question)) {
      const counts = yield* storage.counts(aliveSince, last.counts.agents_offline)
      if (acceptedIn(counts) === acceptedIn(last.counts)) return counts
    }
    const counts = yield* storage.counts(aliveSince)
    kept = { question, counts }
    return counts
  })
})

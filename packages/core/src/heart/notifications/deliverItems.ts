import { Duration, Effect, FiberSet } from "effect"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { keepRepeating } from "../../kernel/engine/commits/keepRepeating.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { Storage, type StorageError } from "../../kernel/ports/Storage.ts"
import { OutboxSignal } from "./OutboxSignal.ts"
import { addDetails, addTitles } from "./addDetails.ts"
import { makeAttempts, type ServedReceiver } from "./attemptItems.ts"
import { type ClaimedItem, type ClaimInput, claimOutbox } from "./claimOutbox.ts"
import { takeTurn } from "./phoneTurns.ts"
import { Receivers } from "./Receivers.ts"

/**
 * Items that a claim takes at most beyond those that can be sent at once: each has a lease. A claim of
 * twice as many blocked SQLite for so long that a storm's incidents opened in 30 s instead of 13.
 */
export const MOST_AHEAD = 128

/**
 * How many items to claim: those that can be sent now, and as many as the receiver takes within a second, by
 * its slowest attempt since the last claim. A claim is a transaction, which costs more than an attempt.
 */
export const claimSize = ({
  concurrency,
  free,
  slowest,
}: {
  readonly concurrency: number
  readonly free: number
  readonly slowest: Duration.Duration | undefined
}): number => {
  if (slowest === undefined) return free
  const turns = Math.floor(1_000 / Math.max(1, Duration.toMillis(slowest)))
  return free + Math.min(concurrency * turns, MOST_AHEAD)
}

/**
 * The claimed items of one type together, since a message reports one of them; those of a handover after events, and
 * those apart that some recipients have.
 */
const digestsOf = (items: ReadonlyArray<ClaimedItem>): ReadonlyArray<ReadonlyArray<ClaimedItem>> => {
  const kinds = ["firing", "handover", "resolved"] as const
  const kindOf = ({ isByTurn, notification: { event_type } }: ClaimedItem) =>
    isByTurn ? "handover" : event_type
  const settledOf = ({ notification }: ClaimedItem) => JSON.stringify(notification.recipients ?? [])
  return kinds.flatMap((kind) =>
    Array.from(
      Map.groupBy(
        items.filter((item) => kindOf(item) === kind),
        settledOf,
      ).values(),
    ),
  )
}

export interface ReceiverOptions {
  readonly concurrency: number
  /** More due items than this become one message of each type; absent for single messages only. */
  readonly digestOver: number | undefined
  /** Whether its messages have details, if its notifier takes them. */
  readonly hasDetails?: boolean
  /** Whether messages of a minute go together once they are many (docs/rules.md#floods). */
  readonly isFlooded?: boolean
  /** Whether it is a phone, which rings once at a time (docs/rules.md#phones). */
  readonly isPhone?: boolean
}

export interface DeliverInput extends ServedReceiver {
  /** How the receiver is served now; a reload may change it. */
  readonly options: () => ReceiverOptions
  /** Whether this process serves the receiver, if that is a phone. */
  readonly isOwner: Effect.Effect<boolean, StorageError>
  /** Where attempts run; interrupted ones are released. */
  readonly underWay: FiberSet.FiberSet
}

/** The longest that an item claimed ahead waits: after that, the receiver has become slow. */
const LONGEST_WAIT = Duration.seconds(5)
/** The longest attempt; two thirds of the lease where that is shorter (docs/rules.md#delivery). */
const LONGEST_ATTEMPT = Duration.seconds(15)

/** How long an item claimed ahead may wait, so that its attempt ends within its lease. */
const beginWithin = (lease: Duration.Duration): Duration.Duration =>
  Duration.isLessThan(lease, LONGEST_ATTEMPT)
    ? Duration.divideUnsafe(lease, 6)
    : Duration.clamp(Duration.subtract(lease, LONGEST_ATTEMPT), {
        minimum: Duration.seconds(1),
        maximum: LONGEST_WAIT,
      })

// A poll without a signal: another process may have died, or its hint been lost.
const POLL_EVERY = Duration.seconds(15)

/**
 * Waits until the outbox changes, an item of a receiver is due, or the next poll. `seen` and `at` are the count
 * of changes and the time before the claim: later ones would pass over an item that fell due in between.
 */
export const waitForMore = Effect.fnUntraced(function* (
  receiver: NotifierName,
  { at, seen }: { readonly seen: number; readonly at: Instant.Instant },
) {
  const storage = yield* Storage
  const signal = yield* OutboxSignal
  const untilDue = yield* storage.untilNextDue([receiver], at)
  const passed = Duration.micros((yield* Instant.now) - at)
  const wait =
    untilDue !== undefined && Duration.isLessThan(untilDue, POLL_EVERY)
      ? Effect.sleep(
          Duration.clamp(Duration.subtract(untilDue, passed), { minimum: Duration.zero, maximum: untilDue }),
        )
      : idlePause(POLL_EVERY)
  yield* Effect.race(signal.after(seen), wait)
})

type Attempts = Effect.Success<ReturnType<typeof makeAttempts>>

/** The attempts at claimed items: together, all at once, or singly; one ahead of the free ones begins by a moment, or not. */
const attemptsAt = (
  { attempt, attemptAll, attemptDigest }: Attempts,
  items: ReadonlyArray<ClaimedItem>,
  {
    beginBy,
    free,
    isPhone,
    onRefused,
  }: {
    readonly beginBy: Instant.Instant
    readonly free: number
    readonly isPhone: boolean | undefined
    readonly onRefused: (count: number) => void
  },
) => {
  const together = items.filter(({ isInDigest }) => isInDigest)
  const digests = isPhone === true && together.length > 0 ? [together] : digestsOf(together)
  const singly = items.filter(({ isInDigest }) => !isInDigest)
  const all = attemptAll(singly)
  const alone = all ? [] : singly.map((item, index) => attempt(item, index < free ? undefined : beginBy))
  const one = [...digests.map((digest) => attemptDigest(digest, () => onRefused(digest.length))), ...alone]
  // Items that are attempted at once count singly, so that others gather for the next claim meanwhile.
  return [...one.map((made) => [1, made] as const), ...(all ? [[singly.length, all] as const] : [])]
}

/**
 * Delivers the outbox items of one receiver. Each round is in one mode:
 *
 * - unused: the policy in force has no such receiver; waits for a signal
 * - full: all attempts are under way; the end of one gives a signal
 * - single: claims an item for each free attempt, and some ahead (`claimSize`); one ahead whose attempt does not begin
 *   in time is given back
 * - digest: where the receiver has `digestOver`, claims no items ahead, and sends many due ones as a message of each type
 * - flood: claims all that is due, of which a minute has five single messages, and the rest together
 * - phone: as digest, by one process, one claim at a time; another one's, or one that rests, waits
 * - refused digest: as single, for as many items as the digest had, or until none is due
 *
 * A round that claims less than it asked for waits for a signal, the next due item, or the next poll.
 */
export const deliverItems = Effect.fnUntraced(function* ({
  receiver,
  isOwner,
  kind,
  lease,
  onWorks,
  options,
  underWay,
}: DeliverInput) {
  const commits = yield* Commits
  const signal = yield* OutboxSignal
  const { current: policy } = yield* PolicyInForce
  const { staleAfter } = yield* RuleSettings
  const receivers = yield* Receivers
  const concurrencyOf = () =>
    Math.min(options().concurrency, receivers.current().get(receiver)?.concurrency ?? Infinity)
  const attempts = yield* makeAttempts({ receiver, kind, lease, onWorks }, concurrencyOf)
  let unsettled = 0
  // So many items are claimed as single ones, since their digest was refused.
  let singles = 0
  const endAttempts = (count: number) =>
    Effect.suspend(() => {
      unsettled -= count
      // Nothing can be claimed before.
      return unsettled < concurrencyOf() ? signal.raise : Effect.void
    })

  // Uninterruptible: a claimed item is attempted or withdrawn, not left to its lease.
  const claim = Effect.fnUntraced(function* (
    free: number,
    asked: Pick<ClaimInput, "digestOver" | "isFlooded" | "isPhone" | "limit">,
  ) {
    const holds = { policy, staleAfter }
    const command = claimOutbox({ ...asked, receivers: [receiver], lease, holds })
    const { expired, isCut, items: claimed } = yield* commits.transact(command)
    const takesDetails = options().hasDetails && receivers.current().get(receiver)?.takesDetails
    const items = yield* addTitles(takesDetails ? yield* addDetails(claimed) : claimed)
    const beginBy = Instant.plus(yield* Instant.now, beginWithin(lease))
    const onRefused = (count: number) => void (singles += count)
    const begun = attemptsAt(attempts, items, { beginBy, free, isPhone: asked.isPhone, onRefused })
    for (const [count, one] of begun) {
      unsettled += count
      // Settling is uninterruptible: every attempt is recorded, even an abandoned one.
      yield* FiberSet.run(underWay, Effect.uninterruptible(Effect.ensuring(one, endAttempts(count))))
    }
    if (expired.length > 0) yield* attempts.endExpired(expired)
    return { isCut, found: claimed.length }
  }, Effect.uninterruptible)

  const round = Effect.gen(function* () {
    const seen = yield* signal.count
    if (!receivers.current().has(receiver)) return yield* signal.after(seen)
    const { isFlooded, isPhone } = options()
    const concurrency = concurrencyOf()
    const digestOver = singles > 0 ? undefined : options().digestOver
    yield* attempts.resize
    const free = concurrency - unsettled
    if (free <= 0) return yield* signal.after(seen)
    if (isPhone === true && !(yield* takeTurn(receiver, isOwner))) return
    const slowest = attempts.takeSlowest()
    const limit =
      digestOver === undefined && isPhone !== true ? claimSize({ concurrency, free, slowest }) : free
    const isIdle = unsettled === 0
    const at = yield* Instant.now
    const isInMinutes = isFlooded === true && singles === 0
    const { found, isCut } = yield* claim(free, { limit, digestOver, isPhone, isFlooded: isInMinutes })
    // Others may have taken them: what comes later may be a digest again.
    const isDrained = isIdle && found < limit
    if (digestOver === undefined && !isInMinutes) singles = isDrained ? 0 : Math.max(0, singles - found)
    if (!isCut) yield* waitForMore(receiver, { seen, at })
  })
  return yield* keepRepeating(round, "cannot read the outbox; delivery resumes when the storage recovers")
})

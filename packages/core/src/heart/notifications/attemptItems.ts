import { Context, Duration, Effect, Cause, Deferred, Exit, Random, Tracer } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { CurrentInstruments } from "../../kernel/engine/metrics/Instruments.ts"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { Notifier, SendResult } from "./Notifiers.ts"
import { type ClaimedItem, type Held, makeKeepClaims } from "./claimOutbox.ts"
import { makeForReader } from "./messageLinks.ts"
import { mayHaveRung, takeBackCall } from "./phoneTurns.ts"
import { Receivers } from "./Receivers.ts"
import { makePermits } from "./receiverTurns.ts"
import {
  type AttemptResult,
  type Recorded,
  type Claim,
  type EndedAttempt,
  LEASE_EXPIRED,
  needsIncident,
  recordResults,
} from "./recordResults.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"
import { deliveryMetrics } from "./deliveryMetrics.ts"

const AT_ONCE = 256

const BETWEEN_TRIES = "1 second"

/**
 * Makes the functions that store the results of attempts. Deliveries that end while others are being
 * stored are stored together: a transaction costs more than a result. While the storage is
 * unreachable they retry for as long as the claim can hold: a lost result makes the receiver get the
 * same message twice.
 */
export const makeStoreResults = Effect.fnUntraced(function* (lease: Duration.Duration) {
  const commits = yield* Commits
  const waiting: Array<{
    readonly attempt: EndedAttempt
    readonly stored: Deferred.Deferred<Recorded, StorageError>
  }> = []
  let isStoring = false

  const store = (attempts: ReadonlyArray<EndedAttempt>) => commits.transact(recordResults(attempts))
  const storeWaiting = Effect.gen(function* () {
    // Attempts that end in the same turn.
    yield* Effect.yieldNow
    while (waiting.length > 0) {
      const together = waiting.splice(0, AT_ONCE)
      const settled = yield* Effect.exit(store(together.map(({ attempt }) => attempt)))
      for (const [index, { stored }] of together.entries())
        Deferred.doneUnsafe(
          stored,
          Exit.map(settled, (recorded) => recorded[index] ?? "lost"),
        )
    }
    isStoring = false
  }).pipe(Effect.uninterruptible)
  const storeTogether = (attempt: EndedAttempt) =>
    Effect.suspend(() => {
      const stored = Deferred.makeUnsafe<Recorded, StorageError>()
      waiting.push({ attempt, stored })
      if (isStoring) return Deferred.await(stored)
      isStoring = true
      return Effect.andThen(storeWaiting, Deferred.await(stored))
    })
  // A defect of one result must not take others with it, nor the locks of one incident those of others.
  const storeAlone = (attempt: EndedAttempt) =>
    Effect.map(store([attempt]), ([recorded = "lost"]) => recorded)

  const insist = Effect.fnUntraced(function* (attempt: EndedAttempt) {
    const giveUpAt = Instant.plus(yield* Instant.now, lease)
    let settled = yield* Effect.exit(needsIncident(attempt) ? storeAlone(attempt) : storeTogether(attempt))
    while (Exit.isFailure(settled)) {
      if ((yield* Instant.now) >= giveUpAt) {
        yield* Effect.logWarning(
          "cannot store the result of an attempt; repeating the attempt",
          settled.cause,
        )
        return "lost"
      }
      yield* Effect.interruptible(Effect.sleep(BETWEEN_TRIES))
      const isAlone = needsIncident(attempt) || Cause.hasDies(settled.cause)
      settled = yield* Effect.exit(isAlone ? storeAlone(attempt) : storeTogether(attempt))
    }
    return settled.value
  })

  return {
    storeResult: (claim: Claim, result: AttemptResult) =>
      Effect.flatMap(Random.next, (random) => insist({ claim, result, random })),
    /** Stores one result of several claims at one moment: items of a message are due again as one message. */
    storeSameResult: Effect.fnUntraced(function* (claims: ReadonlyArray<Claim>, result: AttemptResult) {
      const random = yield* Random.next
      const attempts = claims.map((claim) => ({ claim, result, random }))
      const settled = yield* Effect.exit(store(attempts))
      if (Exit.isSuccess(settled)) return settled.value
      return yield* Effect.forEach(attempts, insist, { concurrency: AT_ONCE })
    }),
  }
})

/** Makes an attempt, which can be interrupted; there is a result in any case. */
export const makeAttempt = (attempt: Effect.Effect<SendResult>): Effect.Effect<AttemptResult> =>
  Effect.flatMap(
    Effect.exit(Effect.interruptible(attempt)),
    Exit.match({
      onSuccess: (result): Effect.Effect<AttemptResult> => Effect.succeed(result),
      onFailure: (cause) =>
        Cause.hasInterrupts(cause)
          ? Effect.succeed({ outcome: "released" } as const)
          : Effect.as(Effect.logError("a notifier failed unexpectedly; retrying the notification", cause), {
              outcome: "deferred",
              error: "the notifier failed unexpectedly; see the log",
            } as const),
    }),
  )

/** A receiver that takes some notifications and not others is logged no more often. */
const FAILURES_EVERY = Duration.minutes(1)

/** How to send a test to a receiver: by the command, unless the program says otherwise. */
export const TestAdvice = Context.Reference<(receiver: NotifierName) => string>(
  "@tocsin/core/notifications/TestAdvice",
  { defaultValue: () => () => "run tocsin doctor --send-test" },
)

/** Makes the log of a receiver: a line when it begins to fail, and one when it works again, which others hear of each time. */
const makeFailureLog = (
  { onWorks, receiver }: Pick<ServedReceiver, "onWorks" | "receiver">,
  testIt: string,
) => {
  let isFailing = false
  let loggedAt: Instant.Instant | undefined
  const failed = Effect.fnUntraced(function* (error: string) {
    const now = yield* Instant.now
    if (loggedAt !== undefined && Instant.isRecent(loggedAt, FAILURES_EVERY, now)) return
    isFailing = true
    loggedAt = now
    const line = `the receiver ${receiver} does not take notifications: fix the cause, then ${testIt}`
    yield* Effect.annotateLogs(Effect.logWarning(line), { error: plainLine(error) })
  })
  return (result: AttemptResult): Effect.Effect<void> => {
    if (result.outcome === "deferred" || result.outcome === "refused")
      return isFailing ? Effect.void : failed(result.error)
    if (result.outcome !== "delivered") return Effect.void
    const works = Effect.map(Instant.now, onWorks)
    if (!isFailing) return works
    isFailing = false
    return Effect.andThen(works, Effect.logInfo(`the receiver ${receiver} takes notifications again`))
  }
}

/** A receiver, and how long a claim of its items holds. */
export interface ServedReceiver extends Pick<Notifier, "kind"> {
  readonly receiver: NotifierName
  readonly lease: Duration.Duration
  /** Called when it took a message. */
  readonly onWorks: (at: Instant.Instant) => void
}

/** A phone that did not ring may ring at once. Without the storage, it rests. */
const makeNoteCall =
  (receiver: NotifierName, commits: Commits["Service"]) =>
  ({ call_began_at }: Claim, result: AttemptResult): Effect.Effect<void> =>
    call_began_at === undefined || mayHaveRung(result)
      ? Effect.void
      : Effect.ignore(commits.transact(takeBackCall(receiver, call_began_at)))

const noteGivenUp =
  (counter: { value: number }) =>
  (recorded: ReadonlyArray<Recorded>): void => {
    counter.value += recorded.filter((one) => one === "given_up").length
  }

const makePace = () => {
  let slowest: Duration.Duration | undefined
  return {
    timed: (sending: Effect.Effect<SendResult>): Effect.Effect<SendResult> =>
      Effect.map(Effect.timed(sending), ([took, result]) => {
        slowest = slowest === undefined ? took : Duration.max(slowest, took)
        return result
      }),
    /** The longest attempt since this was last asked; absent if none ended. */
    takeSlowest: () => {
      const taken = slowest
      slowest = undefined
      return taken
    },
  }
}

type Items = ReadonlyArray<ClaimedItem>

/** The attempts at one receiver, as many at the same time as `concurrency` says. */
export const makeAttempts = Effect.fnUntraced(function* (
  { kind, lease, onWorks, receiver }: ServedReceiver,
  concurrency: () => number,
) {
  const receivers = yield* Receivers
  const { storeSameResult, storeResult } = yield* makeStoreResults(lease)
  const turns = yield* makePermits(concurrency)
  const keepClaims = yield* makeKeepClaims(lease)
  const forReader = yield* makeForReader
  const logFailure = makeFailureLog({ onWorks, receiver }, (yield* TestAdvice)(receiver))
  const noteCall = makeNoteCall(receiver, yield* Commits)
  const isTraced = (yield* Tracer.Tracer) !== Tracer.nativeTracer
  const { takeSlowest, timed } = makePace()

  // A reload may remove a receiver while its items wait.
  const current = () => receivers.current().get(receiver)

  const note = noteGivenUp((yield* CurrentInstruments).of(deliveryMetrics).givenUp.of(kind))
  const settle = (claims: ReadonlyArray<Claim>, result: AttemptResult) =>
    Effect.andThen(logFailure(result), Effect.map(storeSameResult(claims, result), note))
  const attemptHeld = (held: Held, sending: Effect.Effect<SendResult>) =>
    keepClaims(held, makeAttempt(sending), current()?.outlastsLease)
  /** Attempts an item when its turn comes, by `beginBy` at the latest, and settles it. */
  const attempt = Effect.fnUntraced(function* (
    { claim, notification }: ClaimedItem,
    beginBy?: Instant.Instant,
  ) {
    const held: Held = { claims: [claim] }
    let isBegun = false
    const begin = Effect.suspend(() => {
      isBegun = current() !== undefined
      return timed(current()?.send(forReader(notification)) ?? Effect.interrupt)
    })
    const made = yield* attemptHeld(held, turns.take(begin, beginBy))
    const result: AttemptResult = isBegun ? made : { outcome: "unsent" }
    yield* logFailure(result)
    yield* noteCall(claim, result)
    const [last = claim] = held.claims
    note([yield* storeResult({ ...last, notifier: current()?.kind ?? claim.notifier }, result)])
  })
  /**
   * Attempts items of one type as one message; each settles by its answer. If the receiver refuses the message
   * for good, one item may be the reason: they wait again as if it had not been sent, and `onRefused` is called
   * before they are due, for the caller to send each singly (docs/rules.md#digests).
   */
  const attemptDigest = Effect.fnUntraced(function* (items: Items, onRefused: () => void) {
    const [first] = items
    if (first !== undefined && items.length === 1) return yield* attempt(first)
    // A reload may have replaced the receiver by one that takes single messages only.
    const sending = current()?.sendDigest?.(items.map(({ notification }) => forReader(notification)))
    const held: Held = { claims: items.map(({ claim }) => claim) }
    const made = sending && (yield* attemptHeld(held, turns.take(sending, undefined)))
    const isTaken = made !== undefined && made.outcome !== "refused"
    if (!isTaken) onRefused()
    const result: AttemptResult = isTaken ? made : { outcome: "unsent" }
    if (first !== undefined) yield* noteCall(first.claim, result)
    yield* settle(held.claims, result)
  })

  /**
   * Attempts items at once and settles them together, where none can wait; singly where that fails, as one of them may be
   * the reason. For a tracer, each is a span of its own.
   */
  const attemptAll = (items: Items): Effect.Effect<void> | undefined => {
    const { kind: notifier, sendAll } = current() ?? {}
    if (notifier === undefined || sendAll === undefined || isTraced || items.length < 2) return undefined
    const claims = items.map(({ claim }) => ({ ...claim, notifier }))
    const sending = Effect.suspend(() =>
      timed(sendAll(items.map(({ notification }) => forReader(notification)))),
    )
    return Effect.flatMap(makeAttempt(sending), (result) =>
      result.outcome === "delivered" || result.outcome === "released"
        ? settle(claims, result)
        : Effect.forEach(items, (item) => attempt(item), { concurrency: "unbounded", discard: true }),
    )
  }

  return {
    attempt,
    attemptAll,
    attemptDigest,
    /** Ends claims whose lease has expired: their process died, or could not store a result. */
    endExpired: (claims: ReadonlyArray<Claim>) => Effect.map(storeSameResult(claims, LEASE_EXPIRED), note),
    resize: turns.resize,
    takeSlowest,
  }
})

import { assert } from "@effect/vitest"
import * as Instant from "@tocsin/contract/Instant"
import type { NotifierName } from "@tocsin/contract/Status"
import type { ClaimedAlert, DeliveryAttempt, Notifier, SendResult } from "@tocsin/core/ports/Notifiers"
import { Effect } from "effect"

/** How one attempt goes, from the connection to the answer. */
export interface Answer {
  readonly outcome: "delivered" | "deferred" | "refused" | "shadow" | "throws" | "hangs"
  /** Whether the message arrives, whatever the sender learns. */
  readonly reaches: boolean
  /** The time until the message arrives. */
  readonly sendingMillis: number
  /** The time from the arrival to the answer. */
  readonly answeringMillis: number
  readonly retryAfterSeconds?: number
}

/** The receiver accepts the message immediately. */
export const delivered: Answer = { outcome: "delivered", reaches: true, sendingMillis: 0, answeringMillis: 0 }
/** The receiver is down. */
export const deferred: Answer = { outcome: "deferred", reaches: false, sendingMillis: 0, answeringMillis: 0 }
/** The receiver rejects the message. */
export const refused: Answer = { ...deferred, outcome: "refused" }
/** The receiver is a shadow. */
export const shadow: Answer = { ...deferred, outcome: "shadow" }
/** The receiver accepts the message and never answers: the notifier times out. */
export const timedOut: Answer = { ...deferred, reaches: true, answeringMillis: 15_000 }
/** The notifier never returns. */
export const hanging: Answer = { ...deferred, outcome: "hangs" }
/** The notifier has a defect. */
export const throwing: Answer = { ...deferred, outcome: "throws" }

/** One attempt of a notifier. */
export interface Attempt {
  readonly client: string
  readonly notification: DeliveryAttempt
  readonly answer: Answer
  readonly startedAt: Instant.Instant
  endedAt: Instant.Instant | undefined
}

/** One message that arrived. */
export interface Arrival {
  readonly notification: DeliveryAttempt
  readonly at: Instant.Instant
  /** The position among all arrivals and repeats. */
  readonly order: number
}

/** One post that repeats alerts to the alert router. */
export interface Repeat {
  readonly client: string
  readonly at: Instant.Instant
  /** The position among all arrivals and repeats. */
  readonly order: number
  readonly alerts: ReadonlyArray<ClaimedAlert>
  readonly answer: Answer
}

/** One message about several notifications. */
export interface Digest {
  readonly at: Instant.Instant
  readonly notifications: ReadonlyArray<DeliveryAttempt>
  readonly answer: Answer
}

/** Which attempts an answer is for; without a field, for all. */
export interface Selection {
  readonly notifier?: NotifierName
  /** The process that makes the attempt. */
  readonly client?: string
}

export interface ReceiversOptions {
  /** Decides each answer, instead of `answerWith`. */
  readonly answerTo?: (notification: DeliveryAttempt, client: string) => Answer
  /** Called before an attempt is made. */
  readonly onAttempt?: (attempt: Attempt) => void
  /** The alert router keeps alerts until they are sent as ended. */
  readonly remembers?: true
}

/** The receivers of all notifiers, and everything that they and the notifiers saw. */
export interface Receivers {
  readonly attempts: ReadonlyArray<Attempt>
  readonly arrivals: ReadonlyArray<Arrival>
  readonly repeats: ReadonlyArray<Repeat>
  /** The digests that were attempted. */
  readonly digests: ReadonlyArray<Digest>
  /** From now on, digests get this answer. */
  readonly answerDigestsWith: (answer: Answer, selection?: Selection) => void
  /**
   * From now on, attempts get this answer. Of two answers for one attempt, the later one counts.
   */
  readonly answerWith: (answer: Answer, selection?: Selection) => void
  /** From now on, repeats of alerts get this answer. */
  readonly answerRepeatsWith: (answer: Answer, selection?: Selection) => void
  /** The notifier of a kind in the process `client`. */
  readonly notifier: (kind: NotifierName, client: string) => Notifier
  /** From now on, nothing that a process sends arrives. */
  readonly cutOff: (client: string) => void
}

/** The answer that counts for an attempt: `delivered` until another one is set. */
const makeAnswers = () => {
  const answers: Array<readonly [Answer, Selection]> = []
  return {
    set: (answer: Answer, selection: Selection = {}) => void answers.push([answer, selection]),
    to: (client: string, notifier: NotifierName): Answer =>
      answers.findLast(
        ([, selection]) =>
          (selection.client ?? client) === client && (selection.notifier ?? notifier) === notifier,
      )?.[0] ?? delivered,
  }
}

/** Receivers that accept everything by default. */
export const makeReceivers = ({ answerTo, onAttempt, remembers }: ReceiversOptions = {}): Receivers => {
  const attempts: Array<Attempt> = []
  const arrivals: Array<Arrival> = []
  const repeats: Array<Repeat> = []
  const answers = makeAnswers()
  const repeatAnswers = makeAnswers()
  const digestAnswers = makeAnswers()
  const digests: Array<Digest> = []
  const dead = new Set<string>()
  let order = 0

  const make = ({ answer, client, notification }: Attempt): Effect.Effect<SendResult> => {
    const arrive = Effect.map(Instant.now, (at) => {
      if (answer.reaches && !dead.has(client)) arrivals.push({ notification, at, order: order++ })
    })
    return pause(answer.sendingMillis).pipe(
      Effect.andThen(arrive),
      Effect.andThen(pause(answer.answeringMillis)),
      Effect.andThen(end(answer)),
    )
  }

  const send = (client: string) =>
    Effect.fnUntraced(function* (notification: DeliveryAttempt) {
      const startedAt = yield* Instant.now
      const answer = answerTo?.(notification, client) ?? answers.to(client, notification.notifier)
      const attempt: Attempt = { client, notification, answer, startedAt, endedAt: undefined }
      onAttempt?.(attempt)
      attempts.push(attempt)
      const note = Effect.map(Instant.now, (now) => {
        attempt.endedAt = now
      })
      return yield* Effect.onExit(make(attempt), () => note)
    })

  const sendDigest = (kind: NotifierName, client: string) =>
    Effect.fnUntraced(function* (notifications: ReadonlyArray<DeliveryAttempt>) {
      const answer = digestAnswers.to(client, kind)
      digests.push({ at: yield* Instant.now, notifications, answer })
      yield* pause(answer.sendingMillis + answer.answeringMillis)
      return yield* end(answer)
    })

  const resend = (client: string) =>
    Effect.fnUntraced(function* (alerts: ReadonlyArray<ClaimedAlert>) {
      const answer = repeatAnswers.to(client, "alert_router")
      yield* pause(answer.sendingMillis)
      repeats.push({ client, at: yield* Instant.now, order: order++, alerts, answer })
      yield* pause(answer.answeringMillis)
      const result = yield* end(answer)
      // A shadow has no alerts to repeat.
      return result.outcome === "shadow" ? assert.fail("alerts of a shadow are repeated") : result
    })

  return {
    attempts,
    arrivals,
    repeats,
    digests,
    answerDigestsWith: digestAnswers.set,
    answerWith: answers.set,
    answerRepeatsWith: repeatAnswers.set,
    cutOff: (client) => dead.add(client),
    notifier: (kind, client) => ({
      kind,
      send: send(client),
      ...(kind === "messenger" && { sendDigest: sendDigest(kind, client) }),
      ...(kind === "alert_router" && { resend: resend(client), ...(remembers && { remembers }) }),
      test: Effect.succeed({ result: { outcome: "delivered" }, status: 200 }),
    }),
  }
}

const pause = (millis: number): Effect.Effect<void> => (millis === 0 ? Effect.void : Effect.sleep(millis))

const end = (answer: Answer): Effect.Effect<SendResult> => {
  switch (answer.outcome) {
    case "throws":
      return Effect.die(new Error("a defect in the notifier, for a test"))
    case "hangs":
      return Effect.never
    default:
      return Effect.succeed(resultOf(answer))
  }
}

const resultOf = ({ outcome, retryAfterSeconds }: Answer): SendResult => {
  switch (outcome) {
    case "delivered":
    case "shadow":
      return { outcome }
    case "refused":
      return { outcome, error: "the receiver answered 400" }
    default:
      return { outcome: "deferred", error: "the receiver answered 503", retryAfterSeconds }
  }
}

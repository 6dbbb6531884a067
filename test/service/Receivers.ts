import { assert } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type {
  ClaimedAlert,
  DeliveryAttempt,
  DeliveryResult,
  Notifier,
  SendResult,
} from "@tocsin/core/heart/notifications/Notifiers"
import { Effect, Struct } from "effect"

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
  /** Whether a phone is known not to have rung. */
  readonly isAnswered?: true
}

/** The receiver accepts the message immediately. */
export const delivered: Answer = { outcome: "delivered", reaches: true, sendingMillis: 0, answeringMillis: 0 }
/** The receiver is down. */
export const deferred: Answer = { outcome: "deferred", reaches: false, sendingMillis: 0, answeringMillis: 0 }
/** The service of a phone answers that it cannot call now. */
export const busy: Answer = { ...deferred, isAnswered: true }
/** The receiver rejects the message. */
export const refused: Answer = { ...deferred, outcome: "refused" }
/** The receiver is a shadow. */
export const shadow: Answer = { ...deferred, outcome: "shadow" }
/** The receiver accepts the message and never answers: the notifier times out. */
export const timedOut: Answer = { ...deferred, reaches: true, answeringMillis: 15_000 }
/** The receiver takes the request and never answers: the notifier times out. */
export const silent: Answer = { ...deferred, answeringMillis: 15_000 }
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
  /** Whether its sender learnt a result. */
  isAnswered: boolean
  /** The seconds that a service of a type asked to wait. */
  asked: number | undefined
}

/** A receiver of a type, whose attempts the code of that type makes. */
export interface TypedReceiver extends Pick<
  Notifier,
  "kind" | "concurrency" | "outlastsLease" | "endAlarm" | "sendReport"
> {
  /** Makes an attempt by its answer. `arrive` has the message arrive, unless the sender is cut off. */
  readonly send: (attempt: Attempt, arrive: Effect.Effect<boolean>) => Effect.Effect<SendResult>
  readonly resend?: (
    alerts: ReadonlyArray<ClaimedAlert>,
    answer: Answer,
    arrive: Effect.Effect<boolean>,
  ) => Effect.Effect<DeliveryResult>
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
  readonly client: string
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
  /** Each takes any number of notifications at once; what the first is answered is the answer. */
  readonly sendsAll?: true
  /** Receivers of types, by name; others accept, refuse and hang as this file does. */
  readonly types?: ReadonlyMap<NotifierName, TypedReceiver>
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
  /** The marks of secrets that notifiers have which are made from now on. */
  readonly marks: Map<NotifierName, string>
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

/** Whether an answer is a service's, and not a defect of its notifier. */
const isOfService = ({ outcome }: Answer): boolean => outcome !== "throws" && outcome !== "hangs"

/** Receivers that accept everything by default. */
export const makeReceivers = ({
  answerTo,
  onAttempt,
  remembers,
  sendsAll,
  types,
}: ReceiversOptions = {}): Receivers => {
  const attempts: Array<Attempt> = []
  const arrivals: Array<Arrival> = []
  const repeats: Array<Repeat> = []
  const answers = makeAnswers()
  const repeatAnswers = makeAnswers()
  const digestAnswers = makeAnswers()
  const digests: Array<Digest> = []
  const dead = new Set<string>()
  const marks = new Map<NotifierName, string>()
  let order = 0

  const arrive = ({ answer, client, notification }: Attempt): Effect.Effect<boolean> =>
    Effect.map(Instant.now, (at) => {
      const arrives = answer.reaches && !dead.has(client)
      if (arrives) arrivals.push({ notification, at, order: order++ })
      return arrives
    })

  const make = (attempt: Attempt, typed: TypedReceiver | undefined): Effect.Effect<SendResult> => {
    const { answer } = attempt
    return pause(answer.sendingMillis).pipe(
      Effect.andThen(
        typed !== undefined && isOfService(answer)
          ? typed.send(attempt, arrive(attempt))
          : arrive(attempt).pipe(Effect.andThen(pause(answer.answeringMillis)), Effect.andThen(end(answer))),
      ),
      Effect.tap(() => Effect.sync(() => (attempt.isAnswered = true))),
    )
  }

  const send = (name: NotifierName, client: string) =>
    Effect.fnUntraced(function* (notification: DeliveryAttempt) {
      const startedAt = yield* Instant.now
      const answer = answerTo?.(notification, client) ?? answers.to(client, name)
      const rest = { endedAt: undefined, isAnswered: false, asked: undefined }
      const attempt: Attempt = { client, notification, answer, startedAt, ...rest }
      onAttempt?.(attempt)
      attempts.push(attempt)
      const note = Effect.map(Instant.now, (now) => {
        attempt.endedAt = now
      })
      return yield* Effect.onExit(make(attempt, types?.get(name)), () => note)
    })

  const sendDigest = (kind: NotifierName, client: string) =>
    Effect.fnUntraced(function* (notifications: ReadonlyArray<DeliveryAttempt>) {
      const answer = digestAnswers.to(client, kind)
      digests.push({ at: yield* Instant.now, client, notifications, answer })
      yield* pause(answer.sendingMillis + answer.answeringMillis)
      return yield* end(answer)
    })

  const sendAll = (name: NotifierName, client: string) => (notifications: ReadonlyArray<DeliveryAttempt>) =>
    Effect.map(
      Effect.forEach(notifications, send(name, client)),
      ([first]) => first ?? assert.fail("nothing to send"),
    )

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

  const notifier = (name: NotifierName, client: string): Notifier => {
    const typed = types?.get(name)
    const mark = marks.get(name)
    const common: Notifier = {
      ...(mark !== undefined && { mark }),
      ...(typed && Struct.pick(typed, ["concurrency", "outlastsLease", "endAlarm", "sendReport"])),
      kind: typed?.kind ?? name,
      send: send(name, client),
      test: Effect.succeed({ result: { outcome: "delivered" }, status: 200 }),
      ...(name !== "alert_router" && { takesDetails: true }),
    }
    const again = typed?.resend
    if (again !== undefined)
      return {
        ...common,
        remembers: true,
        resend: (alerts) =>
          Effect.suspend((): Effect.Effect<DeliveryResult> => {
            const answer = answers.to(client, name)
            const arrive = Effect.sync(() => answer.reaches && !dead.has(client))
            if (isOfService(answer)) return again(alerts, answer, arrive)
            // A notifier that resends has a time-out, so none hangs for good.
            const millis = answer.outcome === "hangs" ? timedOut.answeringMillis : 0
            return Effect.as(pause(millis), { outcome: "deferred", error: "no answer" } as const)
          }),
      }
    return {
      ...common,
      ...(sendsAll && { sendAll: sendAll(name, client) }),
      ...(name.startsWith("messenger") && { sendDigest: sendDigest(name, client) }),
      ...(name === "alert_router" && { resend: resend(client), ...(remembers && { remembers }) }),
    }
  }

  return {
    attempts,
    arrivals,
    repeats,
    digests,
    answerDigestsWith: digestAnswers.set,
    answerWith: answers.set,
    answerRepeatsWith: repeatAnswers.set,
    marks,
    cutOff: (client) => dead.add(client),
    notifier,
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

const resultOf = ({ isAnswered, outcome, retryAfterSeconds }: Answer): SendResult => {
  switch (outcome) {
    case "delivered":
    case "shadow":
      return { outcome }
    case "refused":
      return { outcome, error: "the receiver answered 400" }
    default:
      return {
        outcome: "deferred",
        error: "the receiver answered 503",
        retryAfterSeconds,
        ...(isAnswered && { isAnswered }),
      }
  }
}

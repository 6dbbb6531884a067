import * as Instant from "@tocsin/core/contract/Instant"
import type { NotifierName } from "@tocsin/core/contract/Status"
import type { ClaimedAlert, DeliveryAttempt } from "@tocsin/core/notifications/DeliveryAttempt"
import type { DeliveryResult, Notifier } from "@tocsin/core/ports/Notifiers"
import { Effect } from "effect"

/** How one attempt goes, from the connection to the answer. */
export interface Answer {
  readonly outcome: "delivered" | "deferred" | "refused" | "throws" | "hangs"
  /** Whether the receiver gets the message, whatever the sender hears of it. */
  readonly reaches: boolean
  /** How long until it gets it. */
  readonly sendingMillis: number
  /** How long from then to the answer. */
  readonly answeringMillis: number
  readonly retryAfterSeconds?: number
}

/** The receiver takes the message at once. */
export const delivered: Answer = { outcome: "delivered", reaches: true, sendingMillis: 0, answeringMillis: 0 }
/** The receiver is not there. */
export const deferred: Answer = { outcome: "deferred", reaches: false, sendingMillis: 0, answeringMillis: 0 }
/** The receiver wants nothing of it. */
export const refused: Answer = { ...deferred, outcome: "refused" }
/** The receiver takes the message and never answers: the notifier gives up after its time-out. */
export const timedOut: Answer = { ...deferred, reaches: true, answeringMillis: 15_000 }
/** The notifier itself never returns. */
export const hanging: Answer = { ...deferred, outcome: "hangs" }

/** One attempt as a notifier makes it. */
export interface Attempt {
  readonly client: string
  readonly notification: DeliveryAttempt
  readonly answer: Answer
  readonly startedAt: Instant.Instant
  endedAt: Instant.Instant | undefined
}

/** One message that a receiver got. */
export interface Arrival {
  readonly notification: DeliveryAttempt
  readonly at: Instant.Instant
  /** Numbers all that arrives anywhere. */
  readonly order: number
}

/** One post of label sets that are sent again. */
export interface Resending {
  readonly client: string
  readonly at: Instant.Instant
  /** Numbers all that arrives anywhere. */
  readonly order: number
  readonly alerts: ReadonlyArray<ClaimedAlert>
  readonly answer: Answer
}

interface ReceiversOptions {
  /** How the next attempt goes. */
  readonly answerTo: (notification: DeliveryAttempt, client: string) => Answer
  /** Told of an attempt before it is made. */
  readonly onAttempt?: (attempt: Attempt) => void
  /** How the next post of label sets goes; the alert router takes them at once unless this is given. */
  readonly answerToAlerts?: (alerts: ReadonlyArray<ClaimedAlert>, client: string) => Answer
}

/** The receivers of all notifiers, and what they and the notifiers noted. */
export interface Receivers {
  readonly attempts: ReadonlyArray<Attempt>
  readonly arrivals: ReadonlyArray<Arrival>
  readonly resendings: ReadonlyArray<Resending>
  /** The notifier of a kind in the process `client`. */
  readonly notifier: (kind: NotifierName, client: string) => Notifier
  /** From now on nothing of a process reaches anybody. */
  readonly cutOff: (client: string) => void
}

/** Receivers that nobody has told anything yet. */
export const makeReceivers = (options: ReceiversOptions): Receivers => {
  const attempts: Array<Attempt> = []
  const arrivals: Array<Arrival> = []
  const resendings: Array<Resending> = []
  const dead = new Set<string>()
  let order = 0

  const make = ({ answer, client, notification }: Attempt): Effect.Effect<DeliveryResult> => {
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
      const answer = options.answerTo(notification, client)
      const attempt: Attempt = { client, notification, answer, startedAt, endedAt: undefined }
      options.onAttempt?.(attempt)
      attempts.push(attempt)
      const note = Effect.map(Instant.now, (now) => {
        attempt.endedAt = now
      })
      return yield* Effect.onExit(make(attempt), () => note)
    })

  const resend = (client: string) =>
    Effect.fnUntraced(function* (alerts: ReadonlyArray<ClaimedAlert>) {
      const answer = options.answerToAlerts?.(alerts, client) ?? delivered
      yield* pause(answer.sendingMillis)
      resendings.push({ client, at: yield* Instant.now, order: order++, alerts, answer })
      yield* pause(answer.answeringMillis)
      return yield* end(answer)
    })

  return {
    attempts,
    arrivals,
    resendings,
    cutOff: (client) => dead.add(client),
    notifier: (kind, client) => ({
      kind,
      send: send(client),
      ...(kind === "alert_router" && { resend: resend(client) }),
      test: Effect.succeed({ result: { outcome: "delivered" }, status: 200 }),
    }),
  }
}

const pause = (millis: number): Effect.Effect<void> => (millis === 0 ? Effect.void : Effect.sleep(millis))

const end = (answer: Answer): Effect.Effect<DeliveryResult> => {
  switch (answer.outcome) {
    case "throws":
      return Effect.die(new Error("a notifier with a mistake in it"))
    case "hangs":
      return Effect.never
    default:
      return Effect.succeed(resultOf(answer))
  }
}

const resultOf = ({ outcome, retryAfterSeconds }: Answer): DeliveryResult => {
  switch (outcome) {
    case "delivered":
      return { outcome }
    case "refused":
      return { outcome, error: "the receiver answered 400" }
    default:
      return { outcome: "deferred", error: "the receiver answered 503", retryAfterSeconds }
  }
}

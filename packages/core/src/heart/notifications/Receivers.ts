import { Clock, Context, Effect, Exit, Layer } from "effect"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { deliveryMetrics } from "./deliveryMetrics.ts"
import { CurrentInstruments, type InstrumentsOf } from "../../kernel/engine/metrics/Instruments.ts"
import { type DeliveryAttempt, type Notifier, Notifiers, type SendResult } from "./Notifiers.ts"
import * as Instant from "@tocsin/contract/formats/Instant"

/** The notifiers of all receivers at this moment, by receiver; each counts and times its attempts. */
export class Receivers extends Context.Service<Receivers>()("@tocsin/core/heart/notifications/Receivers", {
  make: Effect.gen(function* () {
    const instruments = (yield* CurrentInstruments).of(deliveryMetrics)
    const measuredAll = (
      notifiers: ReadonlyMap<NotifierName, Notifier>,
    ): ReadonlyMap<NotifierName, Notifier> =>
      new Map(Array.from(notifiers, ([name, notifier]) => [name, measuredNotifier(notifier, instruments)]))
    const given = yield* Notifiers
    // Those of browsers send once they are given what they need.
    let current = measuredAll(
      new Map(Array.from(given).filter(([, notifier]) => notifier.browsersOf === undefined)),
    )
    return {
      /** Those that the settings or the program gave at the start. */
      given,
      /** Ask at each use: a reload replaces it. Attempts under way keep the notifier they began with. */
      current: () => current,
      /** Replaces all of them, together with the policy that names them. */
      replace: (notifiers: ReadonlyMap<NotifierName, Notifier>) =>
        Effect.sync(() => {
          current = measuredAll(notifiers)
        }),
    }
  }),
}) {
  static readonly layer = Layer.effect(Receivers, Receivers.make)
}

type DeliveryInstruments = InstrumentsOf<typeof deliveryMetrics>

const NANOS_PER_SECOND = 1e9

/** How an attempt ended: its result, `released` if the service stopped, `threw` for a bug in the notifier. */
const OUTCOMES = ["delivered", "deferred", "refused", "shadow", "released", "threw"] as const
type Outcome = (typeof OUTCOMES)[number]

const outcomeOf = (exit: Exit.Exit<SendResult>): Outcome => {
  if (Exit.isSuccess(exit)) return exit.value.outcome
  return Exit.hasInterrupts(exit) ? "released" : "threw"
}

/** Counts and times the attempts of a notifier, and makes each that may wait a span. */
export const measuredNotifier = (notifier: Notifier, instruments: DeliveryInstruments): Notifier => {
  const { kind, resend, sendAll, sendDigest } = notifier
  for (const outcome of OUTCOMES) instruments.attempts.of(kind, outcome)
  const duration = instruments.attemptDuration.of(kind)
  const delay = instruments.deliveryDelay.of(kind)

  // Interrupted attempts count too; each notification is one.
  const measured = (sending: Effect.Effect<SendResult>, notifications: ReadonlyArray<DeliveryAttempt>) =>
    Effect.flatMap(Clock.currentTimeNanos, (start) =>
      Effect.onExit(sending, (exit) =>
        Effect.map(Clock.currentTimeNanos, (end) => {
          const outcome = outcomeOf(exit)
          instruments.attempts.of(kind, outcome).value += notifications.length
          for (const { due_at } of notifications) {
            duration.observe(Number(end - start) / NANOS_PER_SECOND)
            if (outcome === "delivered") delay.observe(Instant.secondsBetween(due_at, Instant.fromNanos(end)))
          }
        }),
      ),
    )

  return {
    ...notifier,
    send: (notification) =>
      Effect.withSpan(measured(notifier.send(notification), [notification]), "Notifier.send", {
        kind: "producer",
        captureStackTrace: false,
        attributes: {
          "tocsin.notifier": kind,
          "tocsin.notification.id": notification.id,
          "tocsin.notification.type": notification.event_type,
          "tocsin.notification.attempt": notification.attempt,
        },
      }),
    ...(sendAll !== undefined && {
      sendAll: (notifications: ReadonlyArray<DeliveryAttempt>) =>
        measured(sendAll(notifications), notifications),
    }),
    ...(sendDigest !== undefined && {
      sendDigest: (notifications: ReadonlyArray<DeliveryAttempt>) =>
        Effect.withSpan(measured(sendDigest(notifications), notifications), "Notifier.sendDigest", {
          kind: "producer",
          attributes: { "tocsin.notifier": kind, "tocsin.notifications": notifications.length },
        }),
    }),
    ...(resend !== undefined && { resend: counted(resend, instruments) }),
  }
}

const counted = (
  resend: NonNullable<Notifier["resend"]>,
  { resends }: DeliveryInstruments,
): NonNullable<Notifier["resend"]> => {
  const outcomes = resends.forEach(OUTCOMES)
  return (alerts) =>
    resend(alerts).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          outcomes[outcomeOf(exit)].value += 1
        }),
      ),
      Effect.withSpan("Notifier.resend", {
        kind: "producer",
        attributes: { "tocsin.alerts": alerts.length },
      }),
    )
}

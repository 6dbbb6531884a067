import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { NotifierName } from "@tocsin/contract/Status"
import type { StorageFailure } from "../ports/Storage.ts"

/** A notification, and a moment in its life. */
export interface NotificationMoment {
  readonly notifier: NotifierName
  readonly at: Instant.Instant
}

/** The facts about the service at the moment of an examination. */
export interface HealthFacts {
  readonly now: Instant.Instant
  /** The service is shutting down. */
  readonly isStopping: boolean
  /** Why the storage did not answer a read, if so. */
  readonly readFailure: StorageFailure | undefined
  /** Why it did not keep a write, if so. */
  readonly writeFailure: StorageFailure | undefined
  /** Waiting notifications of configured notifiers, with the moment from which they count. */
  readonly undelivered: ReadonlyArray<NotificationMoment>
  /** Failed notifications of configured notifiers, with the moment of failure. */
  readonly givenUp: ReadonlyArray<NotificationMoment>
}

/** A notification that waits longer is late: five attempts have failed, or none is being made. */
export const LATE_AFTER = Duration.minutes(15)
/** How long a failed notification counts: longer than any usual interval between watchdog pings. */
export const GIVEN_UP_TOLD_FOR = Duration.hours(1)

/** A condition of health. */
export interface HealthCondition {
  readonly name: string
  /** For the documentation. */
  readonly meaning: string
  /**
   * The fault, if the condition does not hold. Contains no address, agent name or answer of a
   * receiver.
   */
  readonly faultOf: (facts: HealthFacts) => string | undefined
}

/** All conditions; the first ones are prerequisites of the others. */
export const HealthConditions = [
  {
    name: "storage_answers",
    meaning: "the storage answers a read within 5 s",
    faultOf: ({ readFailure }) => readFailure && `the storage does not answer (${readFailure})`,
  },
  {
    name: "storage_keeps",
    meaning: "the storage commits the service heartbeat within 5 s",
    faultOf: ({ writeFailure }) => writeFailure && `the storage refuses writes (${writeFailure})`,
  },
  {
    name: "delivery_in_time",
    meaning: "no notification of a configured notifier has waited for more than 15 minutes",
    faultOf: ({ undelivered, now }) => {
      const late = oldest(undelivered.filter(({ at }) => at < Instant.minus(now, LATE_AFTER)))
      return late && `${late.notifier} has not delivered a notification for ${minutesSince(late.at, now)}`
    },
  },
  {
    name: "nothing_given_up",
    meaning: "no notification of a configured notifier failed within the last hour",
    faultOf: ({ givenUp, now }) => {
      const lost = oldest(givenUp.filter(({ at }) => at > Instant.minus(now, GIVEN_UP_TOLD_FOR)))
      return lost && `${lost.notifier} failed to deliver a notification ${minutesSince(lost.at, now)} ago`
    },
  },
] as const satisfies ReadonlyArray<HealthCondition>

const oldest = (moments: ReadonlyArray<NotificationMoment>): NotificationMoment | undefined =>
  moments.toSorted((a, b) => (a.at < b.at ? -1 : 1))[0]

const MICROS_PER_MINUTE = 60_000_000n

const minutesSince = (at: Instant.Instant, now: Instant.Instant): string => {
  const minutes = Instant.max(at, now) === at ? 0n : (now - at) / MICROS_PER_MINUTE
  if (minutes === 0n) return "less than a minute"
  return minutes === 1n ? "1 minute" : `${minutes} minutes`
}

/** A condition that does not hold. */
export interface Fault {
  readonly name: (typeof HealthConditions)[number]["name"]
  /** The fault, in public terms. */
  readonly text: string
}

/** Whether the service works. While it shuts down it is neither well nor unwell. */
export type Health =
  | { readonly state: "stopping" }
  | { readonly state: "well" }
  | { readonly state: "unwell"; readonly faults: readonly [Fault, ...ReadonlyArray<Fault>] }

/** Judges the facts by {@link HealthConditions}. */
export const judgeHealth = (facts: HealthFacts): Health => {
  if (facts.isStopping) return { state: "stopping" }
  const conditions: ReadonlyArray<HealthCondition & Pick<Fault, "name">> = HealthConditions
  const [first, ...others] = conditions.flatMap(({ name, faultOf }) => {
    const text = faultOf(facts)
    return text === undefined ? [] : [{ name, text }]
  })
  return first === undefined ? { state: "well" } : { state: "unwell", faults: [first, ...others] }
}

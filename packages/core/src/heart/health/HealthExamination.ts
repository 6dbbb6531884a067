import { Context, Duration, Effect, Layer } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Storage, StorageError, type StorageFailure } from "../../kernel/ports/Storage.ts"
import type { ListQuery } from "../../lists/ListDefinitions.ts"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { writeServiceHeartbeat } from "../liveness/outage.ts"
import { type OutboxRecord, UNENDED } from "../model/OutboxRecord.ts"
import { Receivers } from "../notifications/Receivers.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { unusableByAll } from "../replicas/listedReceivers.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"

export interface NotificationMoment {
  readonly notifier: NotifierName
  readonly at: Instant.Instant
}

export interface HealthFacts {
  readonly now: Instant.Instant
  readonly isStopping: boolean
  /** Why the storage did not answer a read, if so. */
  readonly readFailure: StorageFailure | undefined
  /** Why it did not keep a write, if so. */
  readonly writeFailure: StorageFailure | undefined
  /** Waiting notifications of configured notifiers, with the moment from which they count. */
  readonly undelivered: ReadonlyArray<NotificationMoment>
  /** Failed notifications of configured notifiers, with the moment of failure. */
  readonly givenUp: ReadonlyArray<NotificationMoment>
  /** Receivers of the policy that no running server can use. */
  readonly unusable: ReadonlyArray<NotifierName>
  /** Whether the policy in force breaks rules of this version. */
  readonly isOutdated: boolean
}

/** A notification that waits longer is late: five attempts have failed, or none is being made. */
export const LATE_AFTER = Duration.minutes(15)
/** How long a failed notification counts: longer than any usual interval between watchdog pings. */
export const GIVEN_UP_TOLD_FOR = Duration.hours(1)

export interface HealthCondition {
  readonly name: string
  /** For the documentation. */
  readonly meaning: string
  /** The fault, if the condition does not hold. Contains no address, agent name or answer of a receiver. */
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
    name: "receivers_usable",
    meaning: "some running server can use each receiver of the policy",
    faultOf: ({ unusable: [name] }) => name && `no running server can use the receiver ${name}`,
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
  {
    name: "policy_sound",
    meaning: "the stored policy breaks no rule of this version of Tocsin",
    faultOf: ({ isOutdated }) =>
      isOutdated ? "the stored policy breaks a rule of this version: see tocsin doctor" : undefined,
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

export const judgeHealth = (facts: HealthFacts): Health => {
  if (facts.isStopping) return { state: "stopping" }
  const conditions: ReadonlyArray<HealthCondition & Pick<Fault, "name">> = HealthConditions
  const [first, ...others] = conditions.flatMap(({ name, faultOf }) => {
    const text = faultOf(facts)
    return text === undefined ? [] : [{ name, text }]
  })
  return first === undefined ? { state: "well" } : { state: "unwell", faults: [first, ...others] }
}

/** A healthy storage answers a trivial read faster. */
const PATIENCE = Duration.seconds(5)

const timedOut = new StorageError({ reason: "timed_out", message: "the storage took too long" })
const mistaken = new StorageError({ reason: "other", message: "the storage failed unexpectedly" })

export class HealthExamination extends Context.Service<HealthExamination>()(
  "@tocsin/core/heart/health/HealthExamination",
  {
    make: Effect.gen(function* () {
      const storage = yield* Storage
      const commits = yield* Commits
      const rules = yield* RuleSettings
      const receivers = yield* Receivers
      const policy = yield* PolicyInForce
      const look = Effect.gen(function* () {
        yield* storage.probe
        const unusable = yield* unusableHere(storage, policy.current())
        const undelivered = yield* undeliveredMoments(storage, receivers)
        return { unusable, undelivered, givenUp: yield* givenUpMoments(storage, receivers) }
      })
      const read = Effect.result(withinPatience(look))
      const write = failureOf(withinPatience(commits.transact(writeServiceHeartbeat(rules))))
      return {
        /**
         * Tests the storage by a read and a committed write, looks at the outbox, and judges. Never
         * fails; takes at most 10 s. `isStopping`: whether the service is shutting down.
         */
        examine: Effect.fn("HealthExamination.examine")(function* (isStopping: boolean) {
          const found = yield* read
          const isRead = found._tag === "Success"
          const readFailure = isRead ? undefined : found.failure.reason
          const writeFailure = isRead ? yield* write : readFailure
          const moments = isRead ? found.success : { undelivered: [], givenUp: [], unusable: [] }
          return judgeHealth({
            now: yield* Instant.now,
            isStopping,
            isOutdated: Boolean(policy.current().outdated?.length),
            readFailure,
            writeFailure,
            ...moments,
          })
        }),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(HealthExamination, HealthExamination.make)
}

/** The receivers of a policy that neither this process can use nor another one that runs. */
const unusableHere = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { unavailable }: Pick<Policy, "unavailable">,
) {
  if (!unavailable?.size) return []
  const unusable = unusableByAll(unavailable, yield* storage.replicas, yield* Instant.now)
  return unusable.map(([name]) => name)
})

const withinPatience = <A>(effect: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> =>
  effect.pipe(
    Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => Effect.fail(timedOut) }),
    // A bug in the storage goes to the log; the caller only needs to know that the storage fails.
    Effect.catchDefect((defect) =>
      Effect.andThen(Effect.logError("the storage failed unexpectedly", defect), Effect.fail(mistaken)),
    ),
  )

const failureOf = (effect: Effect.Effect<unknown, StorageError>): Effect.Effect<StorageFailure | undefined> =>
  Effect.match(effect, { onSuccess: () => undefined, onFailure: ({ reason }) => reason })

/** Rows kept per state. */
const ROWS = 50

export type NotificationMoments = Pick<HealthFacts, "undelivered" | "givenUp">

/** Reads up to 50 late notifications of each state, from the oldest. A held one is not waiting (docs/rules.md#holds). */
export const undeliveredMoments = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  receivers: Receivers["Service"],
): Effect.fn.Return<NotificationMoments["undelivered"], StorageError> {
  const notifiers = receivers.current()
  if (notifiers.size === 0) return []
  const now = yield* Instant.now
  const momentsOf = momentsIn(storage, (item) => notifiers.has(item.receiver))
  const undelivered = yield* Effect.forEach(UNENDED, (state) =>
    momentsOf({
      which: { filter: { state, held: false }, sort: "created_at", direction: "asc" },
      at: (item) => item.age_starts_at,
      // Its age counts from its creation or later.
      matters: (item) => item.created_at < Instant.minus(now, LATE_AFTER),
    }),
  )
  return undelivered.flat()
})

/** Reads up to 50 notifications that failed, from the latest. */
const givenUpMoments = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  receivers: Receivers["Service"],
): Effect.fn.Return<NotificationMoments["givenUp"], StorageError> {
  const notifiers = receivers.current()
  if (notifiers.size === 0) return []
  const now = yield* Instant.now
  return yield* momentsIn(storage, (item) => notifiers.has(item.receiver))({
    which: { filter: { state: "failed" }, sort: "updated_at", direction: "desc" },
    at: (item) => item.updated_at,
    matters: (item) => item.updated_at > Instant.minus(now, GIVEN_UP_TOLD_FOR),
  })
})

interface Moments {
  readonly which: Omit<ListQuery<"outbox">, "list">
  readonly at: (item: OutboxRecord) => Instant.Instant
  /** Whether a row can be a fault; all rows behind one that cannot are like it. */
  readonly matters: (item: OutboxRecord) => boolean
}

/** Reads the first of our notifications in a list, past those of removed receivers, and dates each. */
const momentsIn =
  (storage: Storage["Service"], isOurs: (item: OutboxRecord) => boolean) =>
  ({ at, matters, which }: Moments): Effect.Effect<ReadonlyArray<NotificationMoment>, StorageError> =>
    Effect.suspend(() => {
      const found: Array<NotificationMoment> = []
      const keep = (items: ReadonlyArray<OutboxRecord>): boolean => {
        for (const item of items) {
          if (found.length === ROWS || !matters(item)) return false
          if (isOurs(item)) found.push({ notifier: item.notifier, at: at(item) })
        }
        return true
      }
      const reading = eachPage(storage, { list: "outbox", ...which }, (items) =>
        Effect.sync(() => keep(items)),
      )
      return Effect.as(reading, found)
    })

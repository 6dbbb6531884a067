import { Context, Duration, Effect, Layer } from "effect"
import { serviceHeartbeatChore } from "../clock/repairClocks.ts"
import { type Chore, type ChoreServices, isWhole, repeatChore } from "../engine/commits/Chore.ts"
import { Commits } from "../engine/commits/Commits.ts"
import { PieceSizes } from "../engine/lists/readPage.ts"
import { removeIdlePending } from "../admission/removeAgent.ts"
import * as Instant from "@tocsin/contract/Instant"
import { overdueChore } from "../expectations/evaluateExpectations.ts"
import { freshnessChore } from "../expectations/followPolicy.ts"
import { type IncidentOptions, incidentOptions } from "../incidents/incidentOptions.ts"
import { alertsChore } from "../integrations/sweepAlerts.ts"
import { integrationsChore } from "../integrations/seeIntegrations.ts"
import { evaluationChore } from "../evaluation/evaluateIncidents.ts"
import { countParentChanges, evaluationPassChore } from "../evaluation/evaluationPass.ts"
import { deadAgentsChore } from "../deadAgents/heartbeatIncident.ts"
import { unclaimedChore } from "../notifications/discardUnclaimed.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { followLabels } from "../policy/followLabels.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { HOURS_KEPT, PART_KINDS, partKinds } from "../numbers/NumberPart.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids } from "../ports/Ids.ts"
import { Receivers } from "../notifications/Receivers.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import type { NumberStorage } from "../ports/NumberStorage.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { IDEMPOTENCY_KEY_TIME } from "../model/IdempotencyKeyRecord.ts"
import { type RetentionName, RetentionRules } from "../retention/RetentionRules.ts"

/** The defaults of docs/rules.md#retention. */
export const defaultRetention = {
  history: Duration.days(93),
  incidents: Duration.days(365),
  outbox: Duration.days(30),
  pending: Duration.days(7),
  audit: Duration.days(400),
  numbers: Duration.days(93),
}

/** How long ended rows are kept; without a time, forever (docs/rules.md#retention). */
export type RetentionOptions = Readonly<Record<keyof typeof defaultRetention, Duration.Duration | undefined>>

export const Retention = Context.Reference<RetentionOptions>("@tocsin/core/usecases/Retention", {
  defaultValue: () => defaultRetention,
})

/** Whose time each rule follows. Timelines of incidents name silences, and rotas state who was on call then. */
const EXPIRING = {
  history: "history",
  outbox: "outbox",
  incidents: "incidents",
  silences: "incidents",
  overrides: "incidents",
  announcements: "incidents",
  enrolments: "pending",
  audit: "audit",
} as const satisfies { readonly [Name in RetentionName]?: keyof typeof defaultRetention }

// The object has no other properties.
const expiring = Object.keys(EXPIRING) as ReadonlyArray<keyof typeof EXPIRING>

const PURGE_EVERY = Duration.seconds(10)
const EXPIRE_EVERY = Duration.minutes(10)

/** How long an incident may count as an opening of its key. Removing it earlier would end a hold. */
const countsFor = ({ flapping }: Policy): Duration.Duration =>
  flapping === undefined ? Duration.zero : Duration.sum(flapping.within, flapping.after)

const retentionChores = (
  { commits, pieces: { rows: limit }, storage }: ChoreServices,
  retention: RetentionOptions,
  incidents: IncidentOptions,
): ReadonlyArray<Chore> => {
  const pause = Effect.sleep(EXPIRE_EVERY)
  const expiry = (name: string, rule: RetentionName, time: () => Duration.Duration): Chore => {
    // Each piece starts where the previous one ended.
    let after: string | undefined
    const piece = Effect.gen(function* () {
      const before = Instant.minus(yield* Instant.now, time())
      const result = yield* storage.expire({ rule, before, after, limit })
      after = result.after
      return result.isMore
    })
    return { name, pause, piece }
  }
  const purge = expiry("removing the rows of deleted agents", "deleted_agents", () => Duration.zero)
  return [
    { ...purge, pause: idlePause(PURGE_EVERY) },
    expiry("removing sessions that are over", "sessions", () => Duration.zero),
    expiry("removing idempotency keys after a day", "idempotency_keys", () => IDEMPOTENCY_KEY_TIME),
    ...expiring.flatMap((rule) => {
      const time = retention[EXPIRING[rule]]
      if (time === undefined) return []
      return expiry(`removing ${RetentionRules[rule].subject} after its retention`, rule, () =>
        EXPIRING[rule] === "incidents" ? Duration.max(time, countsFor(incidents.policy())) : time,
      )
    }),
    ...(storage.numbers === undefined ? [] : [expireNumbers(storage.numbers, retention.numbers, limit)]),
    {
      name: "removing pending agents that went silent",
      pause,
      piece:
        retention.pending === undefined
          ? Effect.succeed(false)
          : Effect.map(
              commits.transact(removeIdlePending({ silence: retention.pending, incidents, limit })),
              isWhole(limit),
            ),
    },
  ]
}

/** Removes numbers, also while no further ones are kept. */
const expireNumbers = (
  numbers: NumberStorage<StorageError>,
  kept: Duration.Duration | undefined,
  limit: number,
): Chore => {
  const forever = Number.POSITIVE_INFINITY
  // A part ends a day after its start: the last hours of a day stay as long as others.
  const millis = kept === undefined ? forever : Duration.toMillis(kept) + PART_KINDS.day.length
  // Days have what hours had, and a reader may be about to read the oldest ones.
  const times = { hour: HOURS_KEPT + 2 * PART_KINDS.hour.length, day: millis, late: millis }
  return {
    name: "removing numbers after their retention",
    pause: Effect.sleep(EXPIRE_EVERY),
    piece: Effect.gen(function* () {
      const now = Instant.toMillis(yield* Instant.now)
      const before = (time: number) => Math.max(0, now - time)
      for (const kind of partKinds)
        if (yield* numbers.expire({ kind, before: before(times[kind]), limit })) return true
      yield* numbers.expireSeries({ before: before(millis), now })
      return false
    }),
  }
}

/** Runs all background work until the layer closes. Safe with several replicas. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const rules = yield* RuleSettings
    const policy = yield* PolicyInForce
    const services = { storage: yield* Storage, commits: yield* Commits, rules, pieces: yield* PieceSizes }
    const incidents = incidentOptions(yield* Ids, policy, rules, yield* Hashing)
    const labels = followLabels(services.commits)
    const parentChanges = yield* countParentChanges(services)
    const chores = [
      serviceHeartbeatChore(services),
      deadAgentsChore(services, incidents),
      overdueChore(services, incidents),
      alertsChore(services, incidents),
      evaluationChore(services, incidents),
      evaluationPassChore(services, { incidents, labels, parentChanges }),
      freshnessChore(services, { inForce: policy, labels }, incidents),
      integrationsChore(services, incidents),
      ...retentionChores(services, yield* Retention, incidents),
      unclaimedChore(services, yield* Receivers),
    ]
    for (const chore of chores) yield* Effect.forkScoped(repeatChore(chore))
  }),
)

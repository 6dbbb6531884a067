import { Context, Duration, Effect, Layer } from "effect"
import { serviceHeartbeatChore } from "../clock/repairClocks.ts"
import { type Chore, type ChoreServices, isWhole, repeatChore } from "../engine/commits/Chore.ts"
import { Commits } from "../engine/commits/Commits.ts"
import { PieceSizes } from "../engine/lists/readPage.ts"
import { removeIdlePending } from "../admission/removeAgent.ts"
import type { EventId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { overdueChore } from "../overdue/evaluateExpectations.ts"
import { overdueRulesChore } from "../overdue/followPolicy.ts"
import { type IncidentOptions, incidentOptions } from "../incidents/incidentOptions.ts"
import { evaluateReported } from "../integrations/sweepAlerts.ts"
import { integrationsChore } from "../integrations/seeIntegrations.ts"
import { evaluationChore } from "../evaluation/evaluateIncidents.ts"
import { evaluationPassChore } from "../evaluation/evaluationPass.ts"
import { deadAgentsChore } from "../deadAgents/heartbeatIncident.ts"
import { unclaimedChore } from "../notifications/discardUnclaimed.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids, newId } from "../ports/Ids.ts"
import { Receivers } from "../notifications/Receivers.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage } from "../ports/Storage.ts"
import { IDEMPOTENCY_KEY_TIME } from "../model/IdempotencyKeyRecord.ts"
import { type RetentionName, RetentionRules } from "../retention/RetentionRules.ts"

/** The defaults of docs/rules.md#retention. */
export const defaultRetention = {
  history: Duration.days(93),
  incidents: Duration.days(365),
  outbox: Duration.days(30),
  pending: Duration.days(7),
  audit: Duration.days(400),
}

/** How long ended rows are kept; without a time, forever (docs/rules.md#retention). */
export type RetentionOptions = Readonly<Record<keyof typeof defaultRetention, Duration.Duration | undefined>>

/** {@link RetentionOptions}; the defaults unless provided. */
export const Retention = Context.Reference<RetentionOptions>("@tocsin/core/usecases/Retention", {
  defaultValue: () => defaultRetention,
})

const PURGE_EVERY = Duration.seconds(10)
const EXPIRE_EVERY = Duration.minutes(10)

/** Each piece of a rule starts where the previous one ended. */
const expiry = (
  storage: Storage["Service"],
  {
    limit,
    rule,
    time,
  }: { readonly rule: RetentionName; readonly limit: number; readonly time: () => Duration.Duration },
) => {
  let after: string | undefined
  return Effect.gen(function* () {
    const before = Instant.minus(yield* Instant.now, time())
    const result = yield* storage.expire({ rule, before, after, limit })
    after = result.after
    return result.isMore
  })
}

/** How long an incident may count as an opening of its key. Removing it earlier would end a hold. */
const countsFor = ({ flapping }: Policy): Duration.Duration =>
  flapping === undefined ? Duration.zero : Duration.sum(flapping.within, flapping.after)

/** The chores that remove rows after their retention. */
const retentionChores = (
  { commits, pieces: { rows: limit }, storage }: ChoreServices,
  retention: RetentionOptions,
  incidents: IncidentOptions,
): ReadonlyArray<Chore> => [
  {
    name: "removing the rows of deleted agents",
    pause: idlePause(PURGE_EVERY),
    piece: expiry(storage, { rule: "deleted_agents", limit, time: () => Duration.zero }),
  },
  {
    name: "removing idempotency keys after a day",
    pause: Effect.sleep(EXPIRE_EVERY),
    piece: expiry(storage, { rule: "idempotency_keys", limit, time: () => IDEMPOTENCY_KEY_TIME }),
  },
  ...(["history", "outbox", "incidents", "silences", "enrolments", "audit"] as const).flatMap((rule) => {
    // The timelines of incidents name silences.
    const isOfIncidents = rule === "incidents" || rule === "silences"
    const time = retention[isOfIncidents ? "incidents" : rule === "enrolments" ? "pending" : rule]
    if (time === undefined) return []
    return {
      name: `removing ${RetentionRules[rule].subject} after its retention`,
      pause: Effect.sleep(EXPIRE_EVERY),
      piece: expiry(storage, {
        rule,
        limit,
        time: () => (isOfIncidents ? Duration.max(time, countsFor(incidents.policy())) : time),
      }),
    }
  }),
  {
    name: "removing pending agents that went silent",
    pause: Effect.sleep(EXPIRE_EVERY),
    piece:
      retention.pending === undefined
        ? Effect.succeed(false)
        : Effect.map(
            commits.transact(removeIdlePending({ silence: retention.pending, incidents, limit })),
            isWhole(limit),
          ),
  },
]

/** Runs all background work until the layer closes. Safe with several replicas. */
export const layer: Layer.Layer<never, never, Commits | Storage | Hashing | Ids | Receivers | PolicyInForce> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const rules = yield* RuleSettings
      const policy = yield* PolicyInForce
      const services = { storage: yield* Storage, commits: yield* Commits, rules, pieces: yield* PieceSizes }
      const ids = yield* Ids
      const incidents = incidentOptions(ids, policy, rules)
      const newEventId = newId<EventId>(ids)
      const { sha256 } = yield* Hashing
      const chores = [
        serviceHeartbeatChore(services),
        deadAgentsChore(services, incidents),
        overdueChore(services, incidents, (input) => evaluateReported({ ...input, newEventId, sha256 })),
        evaluationChore(services, incidents),
        evaluationPassChore(services, incidents),
        overdueRulesChore(services, policy, incidents),
        integrationsChore(services, incidents),
        ...retentionChores(services, yield* Retention, incidents),
        unclaimedChore(services, yield* Receivers),
      ]
      for (const chore of chores) yield* Effect.forkScoped(repeatChore(chore))
    }),
  )

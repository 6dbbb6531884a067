import { Context, Duration, Effect, Layer } from "effect"
import { keepServiceHeartbeat } from "../clock/keepServiceHeartbeat.ts"
import { Commits } from "../engine/commits/Commits.ts"
import { eachPage } from "../engine/lists/readPage.ts"
import { PieceSizes } from "../engine/lists/PieceSizes.ts"
import { removeIdlePending } from "../admission/removeAgent.ts"
import * as Instant from "@tocsin/contract/Instant"
import { evaluateDueExpectations } from "../overdue/evaluateExpectations.ts"
import { applyOverdueRules } from "../overdue/applyOverdueRules.ts"
import { type IncidentOptions, incidentOptions } from "../incidents/incidentOptions.ts"
import { seeIntegrations, seenEvery } from "../integrations/seeIntegrations.ts"
import { serviceHeartbeatEvery } from "../liveness/outage.ts"
import { evaluateDueIncidents } from "../evaluation/evaluateIncidents.ts"
import { evaluationPass } from "../evaluation/evaluationPass.ts"
import { sweepStaleAgents } from "../deadAgents/sweepDeadAgents.ts"
import { discardUnclaimed } from "../notifications/discardUnclaimed.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { Ids } from "../ports/Ids.ts"
import { Receivers } from "../notifications/Receivers.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { type RetentionName, RetentionRules } from "../retention/RetentionRules.ts"

/** How long ended rows are kept; without a time, forever (docs/rules.md#retention). */
export interface RetentionOptions {
  readonly history: Duration.Duration | undefined
  readonly incidents: Duration.Duration | undefined
  readonly outbox: Duration.Duration | undefined
  readonly pending: Duration.Duration | undefined
  readonly audit: Duration.Duration | undefined
}

/** The defaults of docs/rules.md#retention. */
export const defaultRetention: RetentionOptions = {
  history: Duration.days(93),
  incidents: Duration.days(365),
  outbox: Duration.days(30),
  pending: Duration.days(7),
  audit: Duration.days(400),
}

/** {@link RetentionOptions}; the defaults unless provided. */
export const Retention = Context.Reference<RetentionOptions>("@tocsin/core/usecases/Retention", {
  defaultValue: () => defaultRetention,
})

const BETWEEN_PIECES = Duration.millis(20)
// A dead agent opens its incident within 15 s (docs/rules.md#heartbeat-incidents), an overdue check
// joins one (docs/rules.md#freshness).
const SWEEP_EVERY = Duration.seconds(5)
const PURGE_EVERY = Duration.seconds(10)
// A firing is sent within 15 s of its time, or of the end of its hold (docs/rules.md#evaluation).
const EVALUATE_EVERY = Duration.seconds(5)
const EXPIRE_EVERY = Duration.minutes(10)

/**
 * One kind of work, in bounded pieces. A piece returns whether there is more, and is then repeated
 * soon.
 */
interface Chore {
  readonly name: string
  readonly pause: Effect.Effect<void>
  readonly piece: Effect.Effect<boolean, StorageError>
}

/** Runs all background work until the layer closes. Safe with several replicas. */
export const layer: Layer.Layer<never, never, Commits | Storage | Ids | Receivers | PolicyInForce> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      for (const chore of yield* chores) yield* Effect.forkScoped(Effect.forever(round(chore)))
    }),
  )

const round = ({ name, pause, piece }: Chore) =>
  piece.pipe(
    Effect.map((isMore) => (isMore ? Effect.sleep(BETWEEN_PIECES) : pause)),
    // Bugs do not end it either.
    Effect.catchCause((cause) =>
      Effect.as(Effect.logWarning(`${name} failed; Tocsin will retry`, cause), pause),
    ),
    Effect.flatten,
  )

/** A full piece suggests that there is more. */
const isWhole =
  (limit: number) =>
  (count: number): boolean =>
    count >= limit

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
  storage: Storage["Service"],
  commits: Commits["Service"],
  retention: RetentionOptions,
  incidents: IncidentOptions,
  limit: number,
): ReadonlyArray<Chore> => [
  {
    name: "removing the rows of deleted agents",
    pause: idlePause(PURGE_EVERY),
    piece: expiry(storage, { rule: "deleted_agents", limit, time: () => Duration.zero }),
  },
  ...(["history", "outbox", "incidents", "silences", "audit"] as const).flatMap((rule) => {
    // The timelines of incidents name silences.
    const isOfIncidents = rule === "incidents" || rule === "silences"
    const time = retention[isOfIncidents ? "incidents" : rule]
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

const ALL_INTEGRATIONS = { list: "integrations", filter: {}, sort: "name", direction: "asc" } as const

const chores = Effect.gen(function* () {
  const storage = yield* Storage
  const commits = yield* Commits
  const rules = yield* RuleSettings
  const retention = yield* Retention
  const policy = yield* PolicyInForce
  const incidents = incidentOptions(yield* Ids, policy, rules)
  const receivers = yield* Receivers
  const { incidents: evaluated, rows: limit } = yield* PieceSizes
  const list: ReadonlyArray<Chore> = [
    {
      name: "leaving the service heartbeat",
      pause: idlePause(serviceHeartbeatEvery(rules)),
      piece: Effect.as(keepServiceHeartbeat(storage, commits, rules), false),
    },
    {
      name: "looking for dead agents",
      pause: idlePause(SWEEP_EVERY),
      piece: Effect.map(sweepStaleAgents(storage, commits, { rules, incidents, limit }), isWhole(limit)),
    },
    {
      name: "looking for overdue checks",
      pause: idlePause(SWEEP_EVERY),
      piece: Effect.as(evaluateDueExpectations(storage, commits, { rules, incidents, limit }), false),
    },
    {
      name: "evaluating incidents",
      pause: idlePause(EVALUATE_EVERY),
      piece: Effect.map(commits.transact(evaluateDueIncidents(incidents, evaluated)), ({ isMore }) => isMore),
    },
    {
      name: "evaluating incidents under other silences or another policy",
      pause: idlePause(EVALUATE_EVERY),
      piece: evaluationPass(storage, commits, { incidents, limit: evaluated }),
    },
    {
      name: "looking at checks under another policy",
      pause: idlePause(EVALUATE_EVERY),
      piece: applyOverdueRules(storage, commits, { policy, incidents, rules, limit }),
    },
    {
      name: "seeing the agents of integrations",
      pause: idlePause(seenEvery(rules)),
      piece: Effect.as(
        eachPage(storage, ALL_INTEGRATIONS, (rows) =>
          commits.transact(
            seeIntegrations(
              rows.map(({ name }) => name),
              rules,
              incidents,
            ),
          ),
        ),
        false,
      ),
    },
    ...retentionChores(storage, commits, retention, incidents, limit),
    {
      name: "discarding notifications that no replica sends",
      pause: Effect.sleep(EXPIRE_EVERY),
      piece: Effect.suspend(() =>
        Effect.map(
          commits.transact(discardUnclaimed(Array.from(receivers.current().keys()), limit)),
          isWhole(limit),
        ),
      ),
    },
  ]
  return list
})

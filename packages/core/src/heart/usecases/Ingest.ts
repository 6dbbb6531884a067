import { type Clock, Context, Effect, Layer, type Redacted } from "effect"
import { Commits, repeatingUnsettled, submittingUnsettled } from "../../kernel/engine/commits/Commits.ts"
import { BodyBudget } from "./BodyBudget.ts"
import { batchReply, declarationReply, enrolReplies, tooMany, unlessOperatorToken } from "./ingestReplies.ts"
import { type FollowingPlaces, PlaceFollower } from "../checks/followingPlaces.ts"
import { applyBatch } from "../checks/applyBatch.ts"
import type { BatchOutcome } from "../model/CheckRecord.ts"
import type { RegistrationId, AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { EventBatchRequest } from "@tocsin/contract/v1/Requests"
import { TokenBuckets } from "../../kernel/engine/limits/TokenBuckets.ts"
import { CurrentInstruments } from "../../kernel/engine/metrics/Instruments.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { Ids, newId } from "../../kernel/ports/Ids.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { Storage, type StorageError } from "../../kernel/ports/Storage.ts"
import type { ExpectationsRequest } from "@tocsin/contract/overdue/Expectations"
import { declareExpectations } from "../overdue/declareExpectations.ts"
import type { EnrolRequest } from "@tocsin/contract/enrolment/Enrolments"
import { enrol } from "../admission/enrol.ts"
import { currentSignature } from "../audit/recordAudit.ts"
import { enrolmentIdOf } from "../operators/tokens.ts"
import { LISTS_OF_CHECKS, unknownAmong } from "../replicas/knownNames.ts"
import { requestMetrics } from "./requestMetrics.ts"
import {
  BUCKETS_KEPT,
  type CallParts,
  type RequestInstruments,
  takingHeartbeats,
} from "./takingHeartbeats.ts"

/** Accepts pending agents by the tokens of enrolments (docs/rules.md#enrolment). */
const enrolCall = ({ bodies, hashing, heartbeats, ids, instruments, transact }: CallParts) => {
  const answer = unlessOperatorToken(transact)
  const signature = currentSignature(ids)
  return Effect.fn("Ingest.enrol")(function* (
    presented: Redacted.Redacted,
    { agent_id, token }: EnrolRequest & { readonly agent_id: AgentId },
  ) {
    const { key_hash } = hashing.identify(presented)
    const permission = heartbeats.take(key_hash, yield* Instant.now)
    if (!permission.allowed) return yield* tooMany.enrolments(permission.retryAfterSeconds)
    const enrolment = enrolmentIdOf(hashing, token)
    const by = { ...(yield* signature), actor: `enrolment:${enrolment}` }
    const outcome = yield* transact(enrol({ agent_id, key_hash, enrolment }, by))
    instruments.enrolments[outcome].value += 1
    if (outcome === "enrolled" || outcome === "repeated") bodies.note(key_hash, true)
    return yield* answer(enrolReplies[outcome], { outcome, presented, key_hash })
  })
}

/** Takes declarations of expected checks (docs/rules.md#expectations). */
const declareExpectationsCall = (
  { bodies, hashing, heartbeats, incidents, transact }: CallParts,
  findOlder: Effect.Effect<string | undefined, StorageError>,
) => {
  const answer = unlessOperatorToken(transact)
  return Effect.fn("Ingest.expectations")(function* (
    presented: Redacted.Redacted,
    { agent_id, request }: { readonly agent_id: AgentId; readonly request: ExpectationsRequest },
  ) {
    const { key_hash } = hashing.identify(presented)
    const permission = heartbeats.take(key_hash, yield* Instant.now)
    if (!permission.allowed) return yield* tooMany.declarations(permission.retryAfterSeconds)
    const older = request.as_of === undefined ? undefined : yield* findOlder
    const result = yield* transact(declareExpectations({ agent_id, key_hash, request, incidents, older }))
    bodies.note(key_hash, result.outcome === "declared" || result.outcome === "invalid")
    return yield* answer(declarationReply(result), { outcome: result.outcome, presented, key_hash })
  })
}

interface BatchParts extends CallParts {
  readonly places: FollowingPlaces | undefined
  readonly submit: ReturnType<typeof submittingUnsettled>
}

/** The two ways of a batch: by a fiber, and without one. */
const takingBatches = (parts: BatchParts) => {
  const { bodies, hashing, incidents, instruments, places, submit, transact } = parts
  const answer = unlessOperatorToken(transact)
  const commandOf = (presented: Redacted.Redacted, request: EventBatchRequest) =>
    applyBatch({ request, key_hash: hashing.identify(presented).key_hash, incidents, places })
  const replying =
    (presented: Redacted.Redacted, request: EventBatchRequest, now: Instant.Instant) =>
    (result: BatchOutcome) => {
      const { key_hash } = hashing.identify(presented)
      countBatch(instruments, request, result, now)
      bodies.note(key_hash, result.outcome === "applied")
      return answer(batchReply(result), { outcome: result.outcome, presented, key_hash })
    }
  return {
    /** Takes a batch, all or nothing. Safe to repeat: known events count as deduplicated. */
    events: (presented: Redacted.Redacted, request: EventBatchRequest) =>
      Effect.flatMap(Instant.now, (now) =>
        Effect.flatMap(transact(commandOf(presented, request)), replying(presented, request, now)),
      ),
    /** The same for a caller without a fiber: see `beat`. */
    batch:
      submit &&
      ((
        presented: Redacted.Redacted,
        request: EventBatchRequest,
        clock: Clock.Clock,
        resume: (ended: ReturnType<ReturnType<typeof replying>>) => void,
      ): (() => void) => {
        const now = Instant.fromNanos(clock.currentTimeNanosUnsafe())
        return submit(commandOf(presented, request), clock, replying(presented, request, now), resume)
      }),
  }
}

const MICROS_PER_SECOND = 1_000_000

/** Counts a batch that arrived `now`. Lag is measured only for results that were applied. */
const countBatch = (
  { batches, resultLag, results }: Pick<RequestInstruments, "batches" | "results" | "resultLag">,
  { events }: EventBatchRequest,
  result: BatchOutcome,
  now: Instant.Instant,
): void => {
  batches[result.outcome].value += 1
  if (result.outcome !== "applied") return
  for (const outcome of result.events) results[outcome].value += 1
  // Numbers hold microseconds exactly for two more centuries; the difference of bigints would
  // allocate.
  const arrived = Number(now)
  const lag = resultLag.of()
  for (const { observed_at } of events) lag.observe((arrived - Number(observed_at)) / MICROS_PER_SECOND)
}

export class Ingest extends Context.Service<Ingest>()("@tocsin/core/heart/usecases/Ingest", {
  make: Effect.gen(function* () {
    const commits = yield* Commits
    const hashing = yield* Hashing
    const ids = yield* Ids
    const rules = yield* RuleSettings
    const newRegistrationId = newId<RegistrationId>(ids)
    const incidents = incidentOptions(ids, yield* PolicyInForce, rules, hashing)
    const heartbeats = new TokenBuckets(rules.heartbeatRate, BUCKETS_KEPT)
    const instruments = (yield* CurrentInstruments).of(requestMetrics)
    const transact = repeatingUnsettled(commits)
    const submit = submittingUnsettled(commits)
    const bodies = new BodyBudget({ commits, hashing, rules, instruments })
    const entrance: Pick<BodyBudget, "tryEnter" | "enterHeartbeat" | "enterEvents" | "enterUnnamed"> = bodies

    const places = yield* PlaceFollower
    const storage = yield* Storage
    /** The version of a running server that knows no lists of checks. */
    const findOlder = Effect.zipWith(
      storage.replicas,
      Instant.now,
      (replicas, now) => unknownAmong([LISTS_OF_CHECKS], replicas, now)?.version,
    )
    const parts = { bodies, hashing, heartbeats, ids, instruments, incidents, rules, submit, transact }

    return {
      /** Decides whether to read a request's body. Ask before the other calls. */
      bodies: entrance,
      ...takingHeartbeats({ ...parts, newRegistrationId }),
      ...takingBatches({ ...parts, places }),
      /**
       * Declares which checks of an agent must report, and how often. Safe to repeat: an equal
       * declaration changes nothing. Limited like heartbeats, and together with them.
       */
      expectations: declareExpectationsCall(parts, findOlder),
      /** Accepts a pending agent by an enrolment's token. Safe to repeat. Limited with heartbeats. */
      enrol: enrolCall(parts),
    }
  }),
}) {
  static readonly layer = Layer.effect(Ingest, Ingest.make)
}

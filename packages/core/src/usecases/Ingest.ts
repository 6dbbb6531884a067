import { Context, Effect, Layer, type Redacted } from "effect"
import { Commits, repeatingUnsettled } from "../engine/commits/Commits.ts"
import type { AgentBlocked, KeyConflict, NotAnAgentKey, RateLimited } from "../admission/AdmissionErrors.ts"
import { BodyBudget } from "./BodyBudget.ts"
import { heartbeat } from "../admission/heartbeat.ts"
import type { HeartbeatOutcome } from "../model/AgentRecord.ts"
import {
  batchReply,
  declarationReply,
  enrolReplies,
  heartbeatReplies,
  notAnAgentKey,
  tooMany,
  unlessOperatorToken,
} from "./ingestReplies.ts"
import { applyBatch } from "../checks/applyBatch.ts"
import type { BatchOutcome } from "../model/CheckRecord.ts"
import type { RegistrationId, AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { EventBatchRequest, HeartbeatRequest } from "@tocsin/contract/Requests"
import type { AcceptedResponse } from "@tocsin/contract/Responses"
import { TokenBuckets } from "../engine/limits/TokenBuckets.ts"
import { CurrentInstruments, type Instruments } from "../engine/metrics/Instruments.ts"
import { incidentOptions, type IncidentOptions } from "../incidents/incidentOptions.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids, newId } from "../ports/Ids.ts"
import { RuleSettings, type RuleOptions } from "../ports/RuleSettings.ts"
import type { StorageError } from "../ports/Storage.ts"
import type { ExpectationsRequest } from "@tocsin/contract/Expectations"
import { declareExpectations } from "../expectations/declareExpectations.ts"
import type { EnrolRequest } from "@tocsin/contract/Enrolments"
import { enrol } from "../admission/enrolments.ts"
import { currentSignature } from "../audit/Signature.ts"
import { enrolmentIdOf, isTokenOf } from "../operators/tokens.ts"

/** The parts of calls that share the limit of heartbeats. */
interface CallParts extends Pick<Commits["Service"], "transact"> {
  readonly hashing: Hashing["Service"]
  readonly heartbeats: TokenBuckets
  readonly bodies: Pick<BodyBudget, "note">
  readonly ids: Ids["Service"]
  readonly instruments: Instruments
  readonly incidents: IncidentOptions
  readonly rules: RuleOptions
}

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
const declareExpectationsCall = ({ bodies, hashing, heartbeats, incidents, transact }: CallParts) => {
  const answer = unlessOperatorToken(transact)
  return Effect.fn("Ingest.expectations")(function* (
    presented: Redacted.Redacted,
    { agent_id, request }: { readonly agent_id: AgentId; readonly request: ExpectationsRequest },
  ) {
    const { key_hash } = hashing.identify(presented)
    const permission = heartbeats.take(key_hash, yield* Instant.now)
    if (!permission.allowed) return yield* tooMany.declarations(permission.retryAfterSeconds)
    const result = yield* transact(declareExpectations({ agent_id, key_hash, request, incidents }))
    bodies.note(key_hash, result.outcome === "declared" || result.outcome === "invalid")
    return yield* answer(declarationReply(result), { outcome: result.outcome, presented, key_hash })
  })
}

const MICROS_PER_SECOND = 1_000_000

/** Counts a batch that arrived `now`. Lag is measured only for results that were applied. */
const countBatch = (
  { batches, resultLag, results }: Pick<Instruments, "batches" | "results" | "resultLag">,
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
  for (const { observed_at } of events) resultLag.observe((arrived - Number(observed_at)) / MICROS_PER_SECOND)
}

// At most about 10 MB, however many keys and addresses are tried.
const BUCKETS_KEPT = 50_000

const isOfAcceptedKey = (outcome: HeartbeatOutcome): boolean => outcome === "seen" || outcome === "preseeded"

type HeartbeatError = AgentBlocked | KeyConflict | NotAnAgentKey | RateLimited | StorageError

export class Ingest extends Context.Service<Ingest>()("@tocsin/core/usecases/Ingest", {
  make: Effect.gen(function* () {
    const commits = yield* Commits
    const hashing = yield* Hashing
    const ids = yield* Ids
    const rules = yield* RuleSettings
    const newRegistrationId = newId<RegistrationId>(ids)
    const incidents = incidentOptions(ids, yield* PolicyInForce, rules, hashing)
    const heartbeats = new TokenBuckets(rules.heartbeatRate, BUCKETS_KEPT)
    const registrations = new TokenBuckets(rules.registrationRate, BUCKETS_KEPT)
    const instruments = yield* CurrentInstruments
    const count = (outcome: keyof Instruments["heartbeats"]): void => {
      instruments.heartbeats[outcome].value += 1
    }
    const transact = repeatingUnsettled(commits)
    const answer = unlessOperatorToken(transact)
    const bodies = new BodyBudget({ commits, hashing, rules, instruments })
    const entrance: Pick<BodyBudget, "tryEnter" | "enterHeartbeat" | "enterEvents" | "enterUnnamed"> = bodies

    const parts = { bodies, hashing, heartbeats, ids, instruments, incidents, rules, transact }

    return {
      /** Decides whether to read a request's body. Ask before the other calls. */
      bodies: entrance,
      /**
       * Takes a heartbeat; registers an unknown key. Safe to repeat. Durable when it succeeds.
       * Registrations are limited per `address`, if given (docs/rules.md#rate-limits).
       * Few steps and no generator: this is the hot path.
       */
      heartbeat: (presented: Redacted.Redacted, request: HeartbeatRequest, address?: string) =>
        Effect.flatMap(Instant.now, (now): Effect.Effect<AcceptedResponse, HeartbeatError> => {
          const key = hashing.identify(presented)
          const permission = heartbeats.take(key.key_hash, now)
          if (!permission.allowed) {
            count("rate_limited")
            return tooMany.heartbeats(permission.retryAfterSeconds)
          }
          const decide = (mayRegister: boolean) =>
            transact(heartbeat({ request, key, rules, mayRegister, incidents, newRegistrationId }))
          const reply = (outcome: Exclude<HeartbeatOutcome, "unknown_key">) => {
            count(outcome)
            bodies.note(key.key_hash, isOfAcceptedKey(outcome))
            return heartbeatReplies[outcome]
          }
          const register = () =>
            Effect.flatMap(decide(true), (outcome) =>
              outcome === "unknown_key"
                ? Effect.die(new Error("a key that may be registered was refused as unknown"))
                : reply(outcome),
            )
          // Only unknown keys count against their address's registrations.
          const isCounted = address !== undefined && rules.registrationRate.perMinute > 0
          if (!isCounted && !isTokenOf("operator", presented)) return register()
          return Effect.flatMap(decide(false), (outcome): Effect.Effect<AcceptedResponse, HeartbeatError> => {
            if (outcome !== "unknown_key") return reply(outcome)
            // Only operators' tokens come here uncounted.
            if (!isCounted || isTokenOf("operator", presented)) return notAnAgentKey
            const registration = registrations.take(address, now)
            if (registration.allowed) return register()
            count("registration_limited")
            return tooMany.registrations(registration.retryAfterSeconds)
          })
        }),
      /** Takes a batch, all or nothing. Safe to repeat: known events count as deduplicated. */
      events: (presented: Redacted.Redacted, request: EventBatchRequest) =>
        Effect.flatMap(Instant.now, (now) => {
          const { key_hash } = hashing.identify(presented)
          const command = applyBatch({ request, key_hash, incidents })
          return Effect.flatMap(transact(command), (result) => {
            countBatch(instruments, request, result, now)
            bodies.note(key_hash, result.outcome === "applied")
            return answer(batchReply(result), { outcome: result.outcome, presented, key_hash })
          })
        }),
      /**
       * Declares which checks of an agent must report, and how often. Safe to repeat: an equal
       * declaration changes nothing. Limited like heartbeats, and together with them.
       */
      expectations: declareExpectationsCall(parts),
      /** Accepts a pending agent by an enrolment's token. Safe to repeat. Limited with heartbeats. */
      enrol: enrolCall(parts),
    }
  }),
}) {
  static readonly layer = Layer.effect(Ingest, Ingest.make)
}

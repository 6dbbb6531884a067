import { Context, Effect, Layer, type Redacted } from "effect"
import { AgentBlocked, AgentNotAccepted, KeyConflict, RateLimited } from "../admission/AdmissionErrors.ts"
import { heartbeat, type HeartbeatOutcome } from "../admission/heartbeat.ts"
import { applyBatch } from "../checks/applyBatch.ts"
import type { EventBatchRequest } from "../contract/EventBatchRequest.ts"
import type { HeartbeatRequest } from "../contract/HeartbeatRequest.ts"
import type { AcceptedResponse, EventBatchAcceptedResponse } from "../contract/Responses.ts"
import * as Instant from "../contract/Instant.ts"
import { TokenBuckets } from "../limits/TokenBuckets.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids } from "../ports/Ids.ts"
import { Policy } from "../ports/Policy.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { incidentOptions, newId } from "./incidentOptions.ts"
import { RegistrationId } from "../contract/Identifiers.ts"

// A registration becomes possible when an operator empties the queue, which takes a person's time.
const PENDING_RETRY_SECONDS = 60

// Some ten megabytes at most, whatever the number of keys and addresses that are tried.
const BUCKETS_KEPT = 50_000

const blocked = new AgentBlocked({
  message: "this agent key is blocked; deleting its blacklist row lets it register again",
})

const notAccepted = new AgentNotAccepted({
  message:
    "this agent key is not accepted for this agent_id; send a heartbeat, then have an operator accept the agent",
})

const CONFLICTS = {
  superseded_key: "this agent key was replaced by a newer one of the same agent; use the newer key",
  key_of_another_agent: "this agent key belongs to another agent_id; give each agent a key of its own",
  another_key_pending:
    "another key is waiting for admission under this agent_id; accept or block it, or wait until it has been silent for an hour",
} as const

const tooManyRequests = (retryAfterSeconds: number): RateLimited =>
  new RateLimited({
    message: `too many heartbeats; slow down and try again in ${retryAfterSeconds} s`,
    retryAfterSeconds,
  })

const tooManyRegistrations = (retryAfterSeconds: number): RateLimited =>
  new RateLimited({
    message: `too many unknown keys from this address; try again in ${retryAfterSeconds} s`,
    retryAfterSeconds,
  })

const heartbeatReply = (
  outcome: Exclude<HeartbeatOutcome, "unknown_key">,
): Effect.Effect<AcceptedResponse, AgentBlocked | KeyConflict | RateLimited> => {
  switch (outcome) {
    case "seen":
    case "preseeded":
      return Effect.succeed({ accepted: true })
    case "pending":
    case "registered":
    case "replacement_registered":
      return Effect.succeed({ accepted: false })
    case "blocked":
      return Effect.fail(blocked)
    case "superseded_key":
    case "key_of_another_agent":
    case "another_key_pending":
      return Effect.fail(new KeyConflict({ reason: outcome, message: CONFLICTS[outcome] }))
    case "too_many_pending_agents":
      return Effect.fail(
        new RateLimited({
          message: "too many agents are waiting for admission; accept, block or remove some, then try again",
          retryAfterSeconds: PENDING_RETRY_SECONDS,
        }),
      )
  }
}

/** What agents send: heartbeats and batches of check results. */
export class Ingest extends Context.Service<
  Ingest,
  {
    /**
     * Takes a heartbeat; registers a key that is unknown. Safe to repeat. Durable when it succeeds. `address` names
     * whom registrations are counted for (decisions §4); without one they are not limited by it.
     */
    readonly heartbeat: (
      key: Redacted.Redacted,
      request: HeartbeatRequest,
      address?: string,
    ) => Effect.Effect<AcceptedResponse, AgentBlocked | KeyConflict | RateLimited | StorageError>
    /** Takes a batch of check results, all or nothing. Safe to repeat: what is known counts as deduplicated. */
    readonly events: (
      key: Redacted.Redacted,
      request: EventBatchRequest,
    ) => Effect.Effect<EventBatchAcceptedResponse, AgentBlocked | AgentNotAccepted | StorageError>
  }
>()("@tocsin/core/usecases/Ingest") {
  static readonly layer = Layer.effect(
    Ingest,
    Effect.gen(function* () {
      const storage = yield* Storage
      const hashing = yield* Hashing
      const ids = yield* Ids
      const policy = yield* Policy
      const newRegistrationId = newId(ids, RegistrationId)
      const incidents = incidentOptions(ids, policy)
      const heartbeats = new TokenBuckets(policy.heartbeatRate, BUCKETS_KEPT)
      const registrations = new TokenBuckets(policy.registrationRate, BUCKETS_KEPT)

      return Ingest.of({
        heartbeat: Effect.fnUntraced(function* (presented, request, address) {
          const key = hashing.identify(presented)
          const now = yield* Instant.now
          const permission = heartbeats.take(key.key_hash, now)
          if (!permission.allowed) return yield* tooManyRequests(permission.retryAfterSeconds)
          const decide = (mayRegister: boolean) =>
            storage.transact(heartbeat({ request, key, policy, mayRegister, incidents, newRegistrationId }))
          // A registration is counted when the key proves to be unknown, so that known keys cost their address nothing.
          const isCounted = address !== undefined && policy.registrationRate.perMinute > 0
          const outcome = yield* decide(!isCounted)
          if (outcome !== "unknown_key") return yield* heartbeatReply(outcome)
          const registration = registrations.take(address ?? "", now)
          if (!registration.allowed) return yield* tooManyRegistrations(registration.retryAfterSeconds)
          const registered = yield* decide(true)
          return yield* registered === "unknown_key"
            ? Effect.die(new Error("a key that may be registered was refused as unknown"))
            : heartbeatReply(registered)
        }),
        events: Effect.fnUntraced(function* (key, request) {
          const { key_hash } = hashing.identify(key)
          const reply = yield* storage.transact(
            applyBatch({ request, key_hash, incidents, sha256: hashing.sha256 }),
          )
          if (reply.outcome !== "applied") {
            return yield* reply.outcome === "agent_blocked" ? blocked : notAccepted
          }
          const accepted = reply.events.filter((outcome) => outcome === "changed").length
          return { accepted, deduplicated: reply.events.length - accepted }
        }),
      })
    }),
  )
}

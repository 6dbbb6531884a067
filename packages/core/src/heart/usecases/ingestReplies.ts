import { Effect, type Redacted } from "effect"
import type { BatchOutcome } from "../model/CheckRecord.ts"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import type { AcceptedResponse, EventBatchAcceptedResponse } from "@tocsin/contract/v1/Responses"
import type { ExpectationsResponse } from "@tocsin/contract/overdue/Expectations"
import type { DeclarationOutcome } from "../overdue/declareExpectations.ts"
import {
  AgentBlocked,
  AgentNotAccepted,
  KeyConflict,
  NotAnAgentKey,
  RateLimited,
} from "../admission/AdmissionErrors.ts"
import type { EnrolOutcome, HeartbeatOutcome } from "../model/admissionOutcomes.ts"
import { NotFound } from "../../kernel/engine/OperationErrors.ts"
import type { KeyHash } from "@tocsin/contract/formats/Identifiers"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"
import { keyState } from "../admission/agentKeys.ts"
import { isTokenOf } from "../operators/tokens.ts"

// A registration becomes possible when an operator empties the queue, which takes a person's time.
const PENDING_RETRY_SECONDS = 60

export const blocked = Effect.fail(
  new AgentBlocked({
    message: "this agent key is blocked; to let it register again, delete its blacklist row",
  }),
)

export const notAccepted = Effect.fail(
  new AgentNotAccepted({
    message:
      "this agent key is not accepted for this agent_id; send a heartbeat, then have an operator accept the agent",
  }),
)

export const notAnAgentKey = Effect.fail(
  new NotAnAgentKey({ message: "this token is not an agent key; give the agent its own key" }),
)

const conflict = (reason: KeyConflict["reason"], message: string) =>
  Effect.fail(new KeyConflict({ reason, message }))

// Creating an error walks the stack, so there is one error for each number of seconds.
const limited = (messageOf: (seconds: number) => string) => {
  const made: Array<Effect.Effect<never, RateLimited>> = []
  return (seconds: number): Effect.Effect<never, RateLimited> =>
    (made[seconds] ??= Effect.fail(
      new RateLimited({ message: messageOf(seconds), retryAfterSeconds: seconds }),
    ))
}

/** The refusals beyond each limit of requests, by the seconds after which to try again. */
export const tooMany = {
  heartbeats: limited((seconds) => `too many heartbeats; slow down and try again in ${seconds} s`),
  declarations: limited(
    (seconds) => `too many declarations of expected checks; slow down and try again in ${seconds} s`,
  ),
  watches: limited((seconds) => `too many requests for watches; slow down and try again in ${seconds} s`),
  enrolments: limited((seconds) => `too many enrolments; slow down and try again in ${seconds} s`),
  registrations: limited((seconds) => `too many unknown keys from this address; try again in ${seconds} s`),
  ofUnknownKeys: limited(
    (seconds) => `too much data from this address with keys that are not accepted; try again in ${seconds} s`,
  ),
}

/** The reply to nearly every heartbeat: always this object, so that its text is made once. */
export const TAKEN: AcceptedResponse = { accepted: true }

const taken = Effect.succeed(TAKEN)
const waiting = Effect.succeed<AcceptedResponse>({ accepted: false })

/** The replies to heartbeats (docs/rules.md#agent-keys, docs/rules.md#heartbeats). */
export const heartbeatReplies: Readonly<
  Record<
    Exclude<HeartbeatOutcome, "unknown_key">,
    Effect.Effect<AcceptedResponse, AgentBlocked | KeyConflict | RateLimited>
  >
> = {
  seen: taken,
  preseeded: taken,
  pending: waiting,
  registered: waiting,
  replacement_registered: waiting,
  blocked,
  superseded_key: conflict("superseded_key", "the agent has replaced this key; use its newer key"),
  key_of_another_agent: conflict(
    "key_of_another_agent",
    "this agent key belongs to another agent_id; give each agent a key of its own",
  ),
  name_of_integration: conflict(
    "name_of_integration",
    "an integration has this agent_id; choose another one",
  ),
  another_key_pending: conflict(
    "another_key_pending",
    "another key is pending admission for this agent_id; accept or block it, or wait until it has been silent for an hour",
  ),
  too_many_pending_agents: Effect.fail(
    new RateLimited({
      message: "too many agents are waiting for admission; accept, block or remove some, then try again",
      retryAfterSeconds: PENDING_RETRY_SECONDS,
    }),
  ),
}

/** The reply to a batch: how many of its events were changes, and how many were not. */
export const batchReply = (
  result: BatchOutcome,
): Effect.Effect<EventBatchAcceptedResponse, AgentBlocked | AgentNotAccepted> => {
  if (result.outcome !== "applied") return result.outcome === "agent_blocked" ? blocked : notAccepted
  let accepted = 0
  for (const outcome of result.events) if (outcome === "changed") accepted += 1
  return Effect.succeed({ accepted, deduplicated: result.events.length - accepted })
}

export const declarationReply = (
  result: DeclarationOutcome,
): Effect.Effect<ExpectationsResponse, AgentBlocked | AgentNotAccepted | ValidationError> => {
  if (result.outcome === "invalid") return Effect.fail(result.error)
  if (result.outcome !== "declared") return result.outcome === "agent_blocked" ? blocked : notAccepted
  return Effect.succeed(result.counts)
}

export const enrolReplies: Readonly<
  Record<
    EnrolOutcome,
    Effect.Effect<AcceptedResponse, AgentBlocked | AgentNotAccepted | KeyConflict | NotFound>
  >
> = {
  enrolled: taken,
  repeated: taken,
  unknown_token: Effect.fail(
    new NotFound({
      message:
        "this enrolment token is unknown, used, expired or of another agent; get a new one, or have an operator accept the agent",
    }),
  ),
  name_of_place: conflict(
    "name_of_place",
    "a watch names this agent as a place; ask an operator to accept it, or make an enrolment for this agent_id",
  ),
  replacement_key: conflict(
    "replacement_key",
    "an enrolment accepts no replacement key; compare its fingerprint, then have an operator accept it",
  ),
  agent_blocked: blocked,
  agent_not_accepted: notAccepted,
}

interface Refused {
  readonly outcome: string
  readonly presented: Redacted.Redacted
  readonly key_hash: KeyHash
}

type Transact = Commits["Service"]["transact"]

/** The reply to a key with the shape of an operator's token, unless no agent has registered it. */
export const unlessUnknown = <A, E>(
  transact: Transact,
  key_hash: KeyHash,
  reply: Effect.Effect<A, E>,
): Effect.Effect<A, E | NotAnAgentKey | StorageError> =>
  Effect.flatMap(transact(keyState(key_hash)), (state): Effect.Effect<A, E | NotAnAgentKey> =>
    state === "unknown" ? notAnAgentKey : reply,
  )

/**
 * The reply to a request of an agent, unless an operator's token was presented as its key. Asks for
 * the state of a key only if the request was refused and the key has the shape of such a token.
 */
export const unlessOperatorToken =
  (transact: Transact) =>
  <A, E>(
    reply: Effect.Effect<A, E>,
    { key_hash, outcome, presented }: Refused,
  ): Effect.Effect<A, E | NotAnAgentKey | StorageError> =>
    outcome === "agent_not_accepted" && isTokenOf("operator", presented)
      ? unlessUnknown(transact, key_hash, reply)
      : reply

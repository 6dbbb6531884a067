import { Effect, type Redacted } from "effect"
import type {
  AgentBlocked,
  AgentNotAccepted,
  NotAnAgentKey,
  RateLimited,
} from "../admission/AdmissionErrors.ts"
import type { BodyBudget } from "./BodyBudget.ts"
import { declarationReply, tooManyDeclarations } from "./ingestReplies.ts"
import { unlessOperatorToken } from "./unlessOperatorToken.ts"
import type { ValidationError } from "@tocsin/contract/Errors"
import type { ExpectationsRequest, ExpectationsResponse } from "@tocsin/contract/Expectations"
import type { AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Commits } from "../engine/commits/Commits.ts"
import type { TokenBuckets } from "../engine/limits/TokenBuckets.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import type { Hashing } from "../ports/Hashing.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { StorageError } from "../ports/Storage.ts"
import { declareExpectations } from "../overdue/declareExpectations.ts"

interface Parts extends Pick<Commits["Service"], "transact"> {
  readonly hashing: Hashing["Service"]
  readonly rules: RuleOptions
  readonly incidents: IncidentOptions
  /** The limit that declarations share with heartbeats. */
  readonly heartbeats: TokenBuckets
  readonly bodies: Pick<BodyBudget, "note">
}

/** The checks that an agent declares. */
export interface AgentDeclaration {
  readonly agent_id: AgentId
  readonly request: ExpectationsRequest
}

/** Takes declarations of expected checks (docs/rules.md#freshness). */
export const declareExpectationsCall = ({
  bodies,
  hashing,
  heartbeats,
  incidents,
  rules,
  transact,
}: Parts) => {
  const answer = unlessOperatorToken(transact)
  return Effect.fn("Ingest.expectations")(function* (
    presented: Redacted.Redacted,
    { agent_id, request }: AgentDeclaration,
  ): Effect.fn.Return<
    ExpectationsResponse,
    ValidationError | AgentBlocked | AgentNotAccepted | NotAnAgentKey | RateLimited | StorageError
  > {
    const { key_hash } = hashing.identify(presented)
    const permission = heartbeats.take(key_hash, yield* Instant.now)
    if (!permission.allowed) return yield* tooManyDeclarations(permission.retryAfterSeconds)
    const { staleAfter } = rules
    const result = yield* transact(
      declareExpectations({ agent_id, key_hash, request, incidents, staleAfter }),
    )
    bodies.note(key_hash, result.outcome === "declared" || result.outcome === "invalid")
    return yield* answer(declarationReply(result), { outcome: result.outcome, presented, key_hash })
  })
}

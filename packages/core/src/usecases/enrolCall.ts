import { Effect, type Redacted } from "effect"
import type { EnrolRequest } from "@tocsin/contract/Enrolments"
import type { AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { AcceptedResponse } from "@tocsin/contract/Responses"
import type {
  AgentBlocked,
  AgentNotAccepted,
  KeyConflict,
  NotAnAgentKey,
  RateLimited,
} from "../admission/AdmissionErrors.ts"
import { enrol } from "../admission/enrolments.ts"
import { enrolmentIdOf } from "../admission/enrolmentToken.ts"
import { currentSignature } from "../audit/Signature.ts"
import type { Commits } from "../engine/commits/Commits.ts"
import type { TokenBuckets } from "../engine/limits/TokenBuckets.ts"
import type { Instruments } from "../engine/metrics/Instruments.ts"
import type { Hashing } from "../ports/Hashing.ts"
import type { Ids } from "../ports/Ids.ts"
import type { StorageError } from "../ports/Storage.ts"
import type { BodyBudget } from "./BodyBudget.ts"
import { enrolReplies, tooManyEnrolments } from "./ingestReplies.ts"
import type { NotFound } from "./OperationErrors.ts"
import { unlessOperatorToken } from "./unlessOperatorToken.ts"

interface Parts extends Pick<Commits["Service"], "transact">, Pick<Instruments, "enrolments"> {
  readonly hashing: Hashing["Service"]
  readonly ids: Ids["Service"]
  /** The limit that enrolments share with heartbeats. */
  readonly heartbeats: TokenBuckets
  readonly bodies: Pick<BodyBudget, "note">
}

type EnrolError =
  | AgentBlocked
  | AgentNotAccepted
  | KeyConflict
  | NotAnAgentKey
  | NotFound
  | RateLimited
  | StorageError

/** Accepts pending agents by the tokens of enrolments (docs/rules.md#enrolment). */
export const enrolCall = ({ bodies, enrolments, hashing, heartbeats, ids, transact }: Parts) => {
  const answer = unlessOperatorToken(transact)
  const signature = currentSignature(ids)
  return Effect.fn("Ingest.enrol")(function* (
    presented: Redacted.Redacted,
    { agent_id, token }: EnrolRequest & { readonly agent_id: AgentId },
  ): Effect.fn.Return<AcceptedResponse, EnrolError> {
    const { key_hash } = hashing.identify(presented)
    const permission = heartbeats.take(key_hash, yield* Instant.now)
    if (!permission.allowed) return yield* tooManyEnrolments(permission.retryAfterSeconds)
    const enrolment = enrolmentIdOf(hashing, token)
    const by = { ...(yield* signature), actor: `enrolment:${enrolment}` }
    const outcome = yield* transact(enrol({ agent_id, key_hash, enrolment }, by))
    enrolments[outcome].value += 1
    if (outcome === "enrolled" || outcome === "repeated") bodies.note(key_hash, true)
    return yield* answer(enrolReplies[outcome], { outcome, presented, key_hash })
  })
}

import { Effect, type Redacted } from "effect"
import type { KeyHash } from "@tocsin/contract/Identifiers"
import type { Commits } from "../engine/commits/Commits.ts"
import { isOperatorToken } from "../operators/operatorToken.ts"
import type { StorageError } from "../ports/Storage.ts"
import type { NotAnAgentKey } from "../admission/AdmissionErrors.ts"
import { keyState } from "../admission/agentKeys.ts"
import { notAnAgentKey } from "./ingestReplies.ts"

interface Refused {
  /** The decision about the request. */
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
    outcome === "agent_not_accepted" && isOperatorToken(presented)
      ? unlessUnknown(transact, key_hash, reply)
      : reply

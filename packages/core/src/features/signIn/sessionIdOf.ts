import { SessionId } from "@tocsin/contract/signIn/Sessions"
import type { Redacted } from "effect"
import { idOf } from "../../heart/operators/tokens.ts"
import type { Hashing } from "../../kernel/ports/Hashing.ts"

/** The ID of the session of a token. */
export const sessionIdOf = (hashing: Hashing["Service"], token: Redacted.Redacted) =>
  SessionId.make(idOf("se1", hashing, token))

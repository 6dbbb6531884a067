import { Context } from "effect"
import type { Instant } from "../contract/Instant.ts"
import type { Role } from "../contract/Role.ts"

/** Who acts, and what they may do. */
export interface ActingOperator {
  /** The name of an operator, or `token-` and eight digits for a token of the settings. */
  readonly name: string
  readonly role: Role
  /** When the operator expires, if ever. */
  readonly expires_at: Instant | undefined
}

/** The operator of the present request. A program that calls the library acts as `library`. */
export const CurrentOperator = Context.Reference<ActingOperator>("@tocsin/core/operators/CurrentOperator", {
  defaultValue: () => ({ name: "library", role: "admin", expires_at: undefined }),
})

import { Context } from "effect"
import type { AuditVia } from "@tocsin/contract/audit/Audit"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { SessionId } from "@tocsin/contract/signIn/Sessions"
import type { Role } from "@tocsin/contract/operators/Operators"

/** The actor of Tocsin's own changes: no operator has this name. */
export const SYSTEM = "system"

/** Whose token a request has, and what they may do. */
export interface OperatorIdentity {
  /** The name of an operator, `token-` and eight digits for a token of the settings, or `oidc:` and a name. */
  readonly name: string
  readonly role: Role
  readonly expires_at: Instant | undefined
  /** The session whose token it is; absent for other tokens. */
  readonly session?: SessionId | undefined
}

/** The acting operator and the way of the action. */
export interface ActingOperator extends OperatorIdentity {
  readonly via: AuditVia
  /** Of the request; absent elsewhere. */
  readonly request_id: string | undefined
}

/** A program that calls the library, by the name that it gives. */
export const libraryOperator = (name = "library"): ActingOperator => ({
  name,
  role: "admin",
  expires_at: undefined,
  via: "library",
  request_id: undefined,
})

export const systemOperator: ActingOperator = { ...libraryOperator(SYSTEM), via: "system" }

/** The operator of the present request. A program that calls the library acts as `library`. */
export const CurrentOperator = Context.Reference<ActingOperator>("@tocsin/core/operators/CurrentOperator", {
  defaultValue: libraryOperator,
})

import { Context } from "effect"
import type { AuditVia } from "@tocsin/contract/Audit"
import type { Instant } from "@tocsin/contract/Instant"
import { SYSTEM } from "../model/IncidentRecord.ts"
import type { Role } from "@tocsin/contract/Operators"

/** Whose token a request has, and what they may do. */
export interface OperatorIdentity {
  /** The name of an operator, or `token-` and eight digits for a token of the settings. */
  readonly name: string
  readonly role: Role
  readonly expires_at: Instant | undefined
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

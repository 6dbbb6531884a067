import { isWellFormed } from "@tocsin/contract/operators/BearerToken"
import type { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import type { OperatorIdentity } from "@tocsin/core/kernel/ports/CurrentOperator"
import { includesRole, type Role } from "@tocsin/contract/operators/Operators"
import { Redacted, Result } from "effect"
import type { Failure } from "../response/failures.ts"
import { isOfNoAgent, isTokenOf, roleOf as rolesIn } from "@tocsin/core/heart/operators/tokens"

/**
 * The operator tokens: those that may do everything, and those that only read. Each request sees
 * the lists as they are, so that their owner may change them.
 */
export interface OperatorTokens {
  readonly operatorTokens: ReadonlyArray<Redacted.Redacted>
  readonly readTokens?: ReadonlyArray<Redacted.Redacted> | undefined
}

/**
 * Access to the metrics: open to everyone, or restricted to holders of an operator token or of one
 * of these. Each request sees the current value.
 */
export interface MetricsAccess {
  readonly tokens: ReadonlyArray<Redacted.Redacted>
  readonly isOpen: boolean
}

export interface ServiceTokens extends OperatorTokens {
  readonly metrics?: { readonly access: MetricsAccess } | undefined
}

const notWellFormed: Failure<"unauthorized"> = {
  code: "unauthorized",
  message: "send the header Authorization: Bearer with a token of 1 to 512 visible ASCII characters",
}
const notForAgents: Failure<"unauthorized"> = {
  code: "unauthorized",
  message: "this token is not an agent key; give the agent its own key",
}
const notValid: Failure<"unauthorized"> = {
  code: "unauthorized",
  message: "this token is not valid; use a token from SERVICE_AUTH_TOKEN, or operatorTokens in a program",
}
/** The refusal of a token that no named operator has. */
export const noLongerValid: Failure<"unauthorized"> = {
  code: "unauthorized",
  message: "this operator token is unknown, expired or replaced; ask an administrator for a new one",
}
/** The refusal of a token that no session has. */
export const overSession: Failure<"unauthorized"> = {
  code: "unauthorized",
  message: "this session is over, or was ended; sign in again",
}
const notForMetrics: Failure<"unauthorized"> = {
  code: "unauthorized",
  message:
    "send the header Authorization: Bearer with a token from SERVICE_METRICS_TOKEN, SERVICE_AUTH_TOKEN or SERVICE_READ_TOKEN",
}
const BEARER = /^Bearer +([^ ]+) *$/i

const tokenOf = (authorization: string | undefined): Redacted.Redacted | undefined => {
  const text = BEARER.exec(authorization ?? "")?.[1]
  const token = text === undefined ? undefined : Redacted.make(text)
  return token !== undefined && isWellFormed(token) ? token : undefined
}

const tooLow = (held: Role, needed: Role): Failure<"forbidden"> => ({
  code: "forbidden",
  message: `this operation requires the role ${needed}; your token has the role ${held}`,
})

/** Why a role does not suffice for an operation, if so. */
export const refusalOf = (held: Role, needed: Role): Failure<"forbidden"> | undefined =>
  includesRole(held, needed) ? undefined : tooLow(held, needed)

/** A token of the settings, or one to look up: of a named operator, or of a session. */
type Presented =
  | { readonly kind: "of_settings"; readonly operator: OperatorIdentity }
  | { readonly kind: "of_operator" | "of_session"; readonly token: Redacted.Redacted }

const SETTINGS_ROLES = { operator: "admin", reader: "read", scraper: undefined } as const

const NAME_DIGITS = 8

const nameOf = (token: Redacted.Redacted, sha256: Hashing["Service"]["sha256"]): string =>
  `token-${sha256(Redacted.value(token)).slice(0, NAME_DIGITS)}`

/** The access that a header Authorization grants, by these tokens (docs/rules.md#tokens). */
export const make = (
  { operatorTokens, readTokens = [], metrics }: ServiceTokens,
  { sha256 }: Pick<Hashing["Service"], "sha256">,
) => {
  const access = metrics?.access
  const scraper = access?.tokens ?? []
  // The last role counts: a token in both settings of operators may change things.
  const roleOf = rolesIn(sha256, { scraper, reader: readTokens, operator: operatorTokens })
  return {
    /** The key of an agent. A token of the settings is none, so that it can never be registered as one. */
    agent: (authorization: string | undefined) => {
      const key = tokenOf(authorization)
      if (key === undefined) return Result.fail(notWellFormed)
      const isAgents = roleOf(key) === undefined && !isOfNoAgent(key)
      return isAgents ? Result.succeed(key) : Result.fail(notForAgents)
    },
    /** Whom an operator's token belongs to. */
    operator: (authorization: string | undefined): Result.Result<Presented, Failure<"unauthorized">> => {
      const token = tokenOf(authorization)
      if (token === undefined) return Result.fail(notWellFormed)
      const role = SETTINGS_ROLES[roleOf(token) ?? "scraper"]
      if (role !== undefined) {
        const operator = { name: nameOf(token, sha256), role, expires_at: undefined }
        return Result.succeed({ kind: "of_settings", operator })
      }
      if (isTokenOf("session", token)) return Result.succeed({ kind: "of_session", token })
      return isTokenOf("operator", token)
        ? Result.succeed({ kind: "of_operator", token })
        : Result.fail(notValid)
    },
    /** Whether a token is the one for metrics. Operators have others. */
    scrapes: (authorization: string | undefined): boolean => {
      const token = tokenOf(authorization)
      return token !== undefined && roleOf(token) === "scraper"
    },
    /** Why the metrics may not be read. */
    metrics: (authorization: string | undefined) => {
      if (access?.isOpen === true) return undefined
      const token = tokenOf(authorization)
      return token !== undefined && roleOf(token) !== undefined ? undefined : notForMetrics
    },
  }
}
export type Access = ReturnType<typeof make>

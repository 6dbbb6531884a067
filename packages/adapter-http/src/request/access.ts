import * as BearerToken from "@tocsin/core/admission/BearerToken"
import type { Hashing } from "@tocsin/core/ports/Hashing"
import { Redacted, Result } from "effect"
import type { Failure } from "../response/failures.ts"

/**
 * The operator tokens: those that may do everything, and those that only read. Each request sees
 * the lists as they are, so that their owner may change them.
 */
export interface OperatorTokens {
  readonly uiTokens: ReadonlyArray<Redacted.Redacted>
  readonly readTokens?: ReadonlyArray<Redacted.Redacted> | undefined
}

/** Who may read the metrics: everyone, or holders of an operator token or of one of these. */
export type MetricsAccess = "open" | { readonly tokens: ReadonlyArray<Redacted.Redacted> }

/** All tokens of a server's settings. */
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
  message: "this token is not valid; use a token from SERVICE_AUTH_TOKEN",
}
const notForMetrics: Failure<"unauthorized"> = {
  code: "unauthorized",
  message:
    "send the header Authorization: Bearer with a token from SERVICE_METRICS_TOKEN, SERVICE_AUTH_TOKEN or SERVICE_READ_TOKEN",
}
const readOnly: Failure<"forbidden"> = {
  code: "forbidden",
  message: "this token is read-only; use a token from SERVICE_AUTH_TOKEN",
}

const BEARER = /^Bearer +([^ ]+) *$/i

/** The token of a header Authorization, if it is well-formed. */
const tokenOf = (authorization: string | undefined): Redacted.Redacted | undefined => {
  const text = BEARER.exec(authorization ?? "")?.[1]
  const token = text === undefined ? undefined : Redacted.make(text)
  return token !== undefined && BearerToken.isWellFormed(token) ? token : undefined
}

const READING = new Set(["GET", "HEAD"])

/** What a header Authorization gives access to (docs/rules.md#tokens). */
export interface Access {
  /**
   * The key of an agent. A token of the settings is none, so that it can never be registered as
   * one.
   */
  readonly agent: (
    authorization: string | undefined,
  ) => Result.Result<Redacted.Redacted, Failure<"unauthorized">>
  /** Why an operator may not do this. */
  readonly operator: (
    authorization: string | undefined,
    method: string,
  ) => Failure<"unauthorized" | "forbidden"> | undefined
  /** Why the metrics may not be read. */
  readonly metrics: (authorization: string | undefined) => Failure<"unauthorized"> | undefined
}

/** The rules of access for these tokens. */
export const make = (
  { uiTokens, readTokens = [], metrics }: ServiceTokens,
  { sha256 }: Pick<Hashing["Service"], "sha256">,
): Access => {
  const access = metrics?.access
  const isOpen = access === "open"
  const scraper = access === undefined || access === "open" ? [] : access.tokens
  // The last role counts: a token in both settings of operators may change things.
  const roleOf = BearerToken.roleOf(sha256, { scraper, reader: readTokens, operator: uiTokens })
  return {
    agent: (authorization) => {
      const key = tokenOf(authorization)
      if (key === undefined) return Result.fail(notWellFormed)
      return roleOf(key) === undefined ? Result.succeed(key) : Result.fail(notForAgents)
    },
    operator: (authorization, method) => {
      const token = tokenOf(authorization)
      if (token === undefined) return notWellFormed
      const role = roleOf(token)
      if (role === "operator") return undefined
      if (role !== "reader") return notValid
      return READING.has(method) ? undefined : readOnly
    },
    metrics: (authorization) => {
      const token = isOpen ? undefined : tokenOf(authorization)
      return isOpen || (token !== undefined && roleOf(token) !== undefined) ? undefined : notForMetrics
    },
  }
}

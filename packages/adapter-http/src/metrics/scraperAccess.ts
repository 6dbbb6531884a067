import { Redacted } from "effect"
import type { OperatorTokens } from "../request/authentication.ts"
import * as BearerToken from "../request/BearerToken.ts"
import type { MetricsAccess } from "./MetricsAccess.ts"

const BEARER = /^Bearer +([^ ]+) *$/i

/** Tells whether a header Authorization gives access to the metrics. */
export const mayScrape = (
  access: MetricsAccess,
  { uiTokens, readTokens = [] }: OperatorTokens,
): ((authorization: string | undefined) => boolean) => {
  if (access === "open") return () => true
  const roleOf = BearerToken.roleOf({ scraper: access.tokens, reader: readTokens, operator: uiTokens })
  return (authorization) => {
    const presented = BEARER.exec(authorization ?? "")?.[1]
    if (presented === undefined) return false
    const candidate = Redacted.make(presented)
    return BearerToken.isWellFormed(candidate) && roleOf(candidate) !== undefined
  }
}

import { withoutTrailing } from "@tocsin/contract/withoutTrailing"
import { isIP } from "node:net"
import { Redacted, Result } from "effect"
import { isRefusedAddress, type TargetPolicy } from "./checkedLookup.ts"

/** The address of a receiver. All but its origin is secret and never shown or logged. */
export interface Target {
  /** Without userinfo and fragment. */
  readonly url: URL
  /** The Authorization header for the address's userinfo. */
  readonly authorization: string | undefined
}

/** The schemes of addresses of one kind. */
interface Schemes {
  readonly pattern: RegExp
  readonly message: string
}

export const HTTP: Schemes = {
  pattern: /^https?:$/,
  message: "must be a URL that begins with http:// or https://",
}
export const SMTP: Schemes = {
  pattern: /^smtps?:$/,
  message: "must be a URL that begins with smtp:// or smtps://",
}

/**
 * Reads an address. A failure completes "… must be …" without it. Names are checked when resolved.
 */
export const parseTarget = (
  address: Redacted.Redacted,
  policy: TargetPolicy,
  schemes = HTTP,
): Result.Result<Target, string> => {
  const url = URL.parse(Redacted.value(address))
  if (url === null || url.hostname === "" || !schemes.pattern.test(url.protocol))
    return Result.fail(schemes.message)
  // URL has normalized every notation of an address for http and https; names are checked when resolved.
  const host = hostOf(url)
  if (isIP(host) !== 0 && isRefusedAddress(host, policy)) {
    return Result.fail(
      `must not be a link-local or cloud metadata address${policy.denyPrivateTargets ? ", nor a private one" : ""}`,
    )
  }
  return Result.map(authorizationOf(url), (authorization) => {
    url.username = ""
    url.password = ""
    url.hash = ""
    return { url, authorization }
  })
}

/** The host of a URL as sockets take it: IPv6 without brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1")

/** The Basic credentials of an address's userinfo (RFC 7617, docs/rules.md#targets). */
const authorizationOf = (url: URL): Result.Result<string | undefined, string> => {
  if (url.username === "" && url.password === "") return Result.succeed(undefined)
  return Result.try({
    try: () => {
      const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
      return `Basic ${Buffer.from(credentials).toString("base64")}`
    },
    catch: () => "must have a percent-encoded user name and password (write % as %25)",
  })
}

/** A target at a path below another, with the same query. */
export const below = (base: Target, path: string): Target => {
  const url = new URL(base.url)
  url.pathname = withoutTrailing(url.pathname, "/") + path
  return { ...base, url }
}

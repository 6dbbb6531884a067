import { withoutTrailing } from "@tocsin/contract/withoutTrailing"
import { isIP } from "node:net"
import { Redacted, Result } from "effect"
import { isRefusedAddress, type TargetPolicy } from "./checkedLookup.ts"

/** The address of a receiver. All but its origin is secret and never shown or logged. */
export interface Target {
  /** Without userinfo and fragment. */
  readonly url: URL
  /** Its userinfo, decoded. */
  readonly credentials: { readonly user: string; readonly password: string } | undefined
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
  return Result.map(credentialsOf(url), (credentials) => {
    url.username = ""
    url.password = ""
    url.hash = ""
    return { url, credentials }
  })
}

/** The host of a URL as sockets take it: IPv6 without brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1")

/** The credentials of an address's userinfo (docs/rules.md#targets). */
const credentialsOf = (url: URL): Result.Result<Target["credentials"], string> => {
  if (url.username === "" && url.password === "") return Result.succeed(undefined)
  return Result.try({
    try: () => ({ user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }),
    catch: () => "must have a percent-encoded user name and password (write % as %25)",
  })
}

/** The Authorization header of a target (RFC 7617). */
export const authorizationOf = ({ credentials }: Target): string | undefined =>
  credentials && `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64")}`

/** A target at a path below another, with the same query. */
export const below = (base: Target, path: string): Target => {
  const url = new URL(base.url)
  url.pathname = withoutTrailing(url.pathname, "/") + path
  return { ...base, url }
}

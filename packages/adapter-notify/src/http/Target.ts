import { addressesIn, LOOPBACK, METADATA, SPECIAL } from "@tocsin/contract/formats/addressRanges"
import { withoutBrackets } from "@tocsin/contract/formats/hosts"
import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"
import { Context, Redacted, Result } from "effect"
import { lookup, type LookupAddress, type LookupAllOptions } from "node:dns"
import net, { type LookupFunction } from "node:net"

const metadata = addressesIn(net, METADATA)
const metadataAndPrivate = addressesIn(net, [...METADATA, ...SPECIAL])
const metadataAndLoopback = addressesIn(net, [...METADATA, ...LOOPBACK])

/** Which addresses notifiers, watchdog pings and watches must not call. */
export interface TargetPolicy {
  /** Also refuses private addresses and loopback (SERVICE_DENY_PRIVATE_TARGETS, docs/rules.md#targets). */
  readonly denyPrivateTargets: boolean
  /** Also refuses loopback. */
  readonly denyLoopback?: boolean
}

/**
 * Whether an IP address must not be called: link-local and cloud metadata addresses in every form,
 * and private ones if the policy says so (docs/rules.md#targets). Anything but an IP address is
 * refused.
 */
export const isRefusedAddress = (address: string, policy: TargetPolicy): boolean =>
  net.isIP(address) === 0 || refusedBy(policy)(address)

const refusedBy = ({ denyLoopback = false, denyPrivateTargets }: TargetPolicy) => {
  if (denyPrivateTargets) return metadataAndPrivate
  return denyLoopback ? metadataAndLoopback : metadata
}

/** Resolves a name to all its addresses, as `node:dns` does. */
export type ResolveName = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: ReadonlyArray<LookupAddress>) => void,
) => void

/**
 * Asks for a name that is being looked up no second time: all who wait get the answer, and who comes
 * later asks again. A name whose server is silent holds a thread of libuv for ten seconds and more,
 * and a lookup outlives its attempt, so attempts and their retries would take them all. The options
 * of all callers must be equal.
 */
export const sharedLookup = (resolve: ResolveName): ResolveName => {
  const underWay = new Map<string, Array<Parameters<ResolveName>[2]>>()
  return (hostname, options, callback) => {
    const waiting = underWay.get(hostname)
    if (waiting !== undefined) return void waiting.push(callback)
    const callbacks = [callback]
    underWay.set(hostname, callbacks)
    resolve(hostname, options, (error, addresses) => {
      underWay.delete(hostname)
      for (const answer of callbacks) answer(error, addresses)
    })
  }
}

/** The resolver of target names: the system's, shared by all targets, unless another is provided. */
export const NameLookup = Context.Reference<ResolveName>("@tocsin/adapter-notify/http/NameLookup", {
  defaultValue: () => sharedLookup((hostname, options, callback) => lookup(hostname, options, callback)),
})

/** The start of the `code` of the error for a name whose addresses are all refused. */
export const TARGET_REFUSED = "ERR_TARGET_REFUSED"
/** Where settings alone refuse some of them. */
export const OWN_REFUSED = `${TARGET_REFUSED}_OWN`
export const PRIVATE_REFUSED = `${TARGET_REFUSED}_PRIVATE`

class TargetRefused extends Error {
  readonly code: string
  constructor(code: string) {
    super("no allowed address")
    this.code = code
  }
}

/** Why none of these addresses may be called. */
const refusedCode = (
  addresses: ReadonlyArray<LookupAddress>,
  { denyPrivateTargets }: TargetPolicy,
): string => {
  const isEverRefused = addresses.every(({ address }) =>
    isRefusedAddress(address, { denyPrivateTargets: false }),
  )
  if (isEverRefused) return TARGET_REFUSED
  return denyPrivateTargets ? PRIVATE_REFUSED : OWN_REFUSED
}

/**
 * A lookup for sockets that returns allowed addresses only. The socket connects to exactly these,
 * so a name that changes between check and use gains nothing (DNS rebinding).
 */
export const checkedLookup =
  (resolve: ResolveName, policy: TargetPolicy): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, [])
      const allowed = addresses.filter(({ address }) => !isRefusedAddress(address, policy))
      const first = allowed[0]
      if (first === undefined) return callback(new TargetRefused(refusedCode(addresses, policy)), [])
      return options.all === true ? callback(null, allowed) : callback(null, first.address, first.family)
    })

/** The address of a receiver. All but its origin is secret and never shown or logged. */
export interface Target {
  /** Without userinfo and fragment. */
  readonly url: URL
  /** Its userinfo, decoded. */
  readonly credentials: { readonly user: string; readonly password: string } | undefined
}

export const HTTP = {
  pattern: /^https?:$/,
  message: "must be a URL that begins with http:// or https://",
}
export const SMTP = {
  pattern: /^smtps?:$/,
  message: "must be a URL that begins with smtp:// or smtps://",
}

/** Why a loopback address is refused, for receivers with stored secrets and for watches. */
export const OWN_MACHINE =
  "leads to the server's own machine: start the server with SERVICE_WATCH_LOOPBACK=true to allow it; what the console's Settings allow is for watches alone"

/** Reads an address. A failure completes "… must be …" without it. Names are checked when resolved. */
export const parseTarget = (
  address: Redacted.Redacted,
  policy: TargetPolicy,
  schemes = HTTP,
): Result.Result<Target, string> => {
  const url = URL.parse(Redacted.value(address))
  if (url === null || url.hostname === "" || !schemes.pattern.test(url.protocol))
    return Result.fail(schemes.message)
  // Names are checked when resolved.
  const host = hostOf(url)
  if (net.isIP(host) !== 0 && isRefusedAddress(host, policy)) {
    const isOwn = !policy.denyPrivateTargets && !isRefusedAddress(host, { denyPrivateTargets: false })
    return Result.fail(
      isOwn
        ? OWN_MACHINE
        : `must not be a link-local or cloud metadata address${policy.denyPrivateTargets ? ", nor a private one" : ""}`,
    )
  }
  return Result.map(credentialsOf(url), (credentials) => {
    url.username = ""
    url.password = ""
    url.hash = ""
    return { url, credentials }
  })
}

/**
 * The host of a URL as sockets take it: IPv6 without brackets, and names and every notation of an address as
 * in http, because URL leaves those of other schemes as they are.
 */
export const hostOf = (url: URL): string =>
  withoutBrackets((URL.parse(`http://${url.hostname}`) ?? url).hostname)

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

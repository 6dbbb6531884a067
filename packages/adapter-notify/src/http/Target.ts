import { withoutBrackets } from "@tocsin/contract/formats/hosts"
import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"
import { Context, Redacted, Result } from "effect"
import { lookup, type LookupAddress, type LookupAllOptions } from "node:dns"
import { BlockList, isIP, type LookupFunction } from "node:net"

const subnets = (list: string): ReadonlyArray<string> => list.trim().split(/\s+/)

/** Link-local addresses, and those where clouds serve credentials (docs/rules.md#targets). */
const METADATA = [
  ...subnets("169.254.0.0/16 fe80::/10"),
  // AWS: metadata, and credentials of pods.
  "fd00:ec2::/32",
  // Alibaba Cloud, Azure, Oracle Cloud, Google Cloud and Scaleway.
  ...subnets("100.100.100.200/32 168.63.129.16/32 192.0.0.192/32 fd20:ce::254/128 fd00:42::42/128"),
]

/** Those that lead to the host itself, the unspecified ones too. */
const LOOPBACK = subnets("0.0.0.0/8 127.0.0.0/8 ::/127")

/** Addresses outside the public internet: IANA's special-purpose registries (RFC 6890). */
const PRIVATE = [
  ...LOOPBACK,
  ...subnets(`
    10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
    64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/32 2001:2::/48 2001:10::/28 2001:db8::/32
    3fff::/20 5f00::/16 fc00::/7 fec0::/10 ff00::/8
  `),
]

const blockListOf = (refused: ReadonlyArray<string>): BlockList => {
  const list = new BlockList()
  for (const subnet of refused) {
    const [network = "", prefix] = subnet.split("/")
    list.addSubnet(network, Number(prefix), network.includes(":") ? "ipv6" : "ipv4")
  }
  return list
}

const metadata = blockListOf(METADATA)
const metadataAndPrivate = blockListOf([...METADATA, ...PRIVATE])
const metadataAndLoopback = blockListOf([...METADATA, ...LOOPBACK])

const LAST = [12, 13, 14, 15]

/**
 * Every routed form of an IPv4 address within an IPv6 one: its first hexadecimal digits, and the
 * positions of the bytes. Networks choose the length of their NAT64 prefix (RFC 6052, RFC 8215).
 */
const EMBEDDINGS = [
  // Compatible, mapped, and translated (SIIT).
  { prefix: "000000000000000000000000", bytes: LAST },
  { prefix: "00000000000000000000ffff", bytes: LAST },
  { prefix: "0000000000000000ffff0000", bytes: LAST },
  // NAT64; local NAT64 with prefixes of 48, 56, 64 and 96 bits.
  { prefix: "0064ff9b0000000000000000", bytes: LAST },
  { prefix: "0064ff9b0001", bytes: [6, 7, 9, 10] },
  { prefix: "0064ff9b0001", bytes: [7, 9, 10, 11] },
  { prefix: "0064ff9b0001", bytes: [9, 10, 11, 12] },
  { prefix: "0064ff9b0001", bytes: LAST },
  // 6to4.
  { prefix: "2002", bytes: [2, 3, 4, 5] },
  // Teredo: its server, and the client behind it.
  { prefix: "20010000", bytes: [4, 5, 6, 7] },
  { prefix: "20010000", bytes: LAST, isInverted: true },
]

/** All 32 hexadecimal digits of an IPv6 address; a zone such as `%eth0` is ignored. */
const digitsOf = (address: string): string => {
  const [plain] = address.split("%")
  // URL writes a trailing IPv4 part in hexadecimal.
  const [head = "", tail = ""] = new URL(`http://[${plain}]`).hostname
    .slice(1, -1)
    .split("::")
    .map((side) => side.replaceAll(/[^:]+/g, (group) => group.padStart(4, "0")).replaceAll(":", ""))
  return head + tail.padStart(32 - head.length, "0")
}

/** The IPv4 addresses that an IPv6 address may lead to. */
const embeddedIpv4 = (address: string): ReadonlyArray<string> => {
  const digits = digitsOf(address)
  const byteAt = (at: number): number => Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16)
  return EMBEDDINGS.filter(({ prefix }) => digits.startsWith(prefix)).map(({ bytes, isInverted = false }) =>
    bytes.map((at) => (isInverted ? 255 - byteAt(at) : byteAt(at))).join("."),
  )
}

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
export const isRefusedAddress = (address: string, policy: TargetPolicy): boolean => {
  // Accepts the zone that getaddrinfo may append: fe80::1%eth0.
  const version = isIP(address)
  const list = listOf(policy)
  if (version !== 6) return version === 0 || list.check(address, "ipv4")
  return list.check(address, "ipv6") || embeddedIpv4(address).some((inner) => list.check(inner, "ipv4"))
}

const listOf = ({ denyLoopback = false, denyPrivateTargets }: TargetPolicy): BlockList => {
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
  "leads to the server's own machine: start the server with SERVICE_WATCH_LOOPBACK=true to allow it"

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
  if (isIP(host) !== 0 && isRefusedAddress(host, policy)) {
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

import { isIP, isIPv6 } from "node:net"
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"

const GROUPS_OF_IPV6 = 8
const GROUPS_OF_NETWORK = 4
const FIRST_GROUP_OF_IPV4 = 6
const MAPPED = 0xffff
const LOW_BYTE = 0xff

/** The groups of one side of `::`, an IPv4 tail being two of them. */
const groupsOf = (side: string): ReadonlyArray<number> =>
  side === ""
    ? []
    : side
        .split(":")
        .flatMap((group) => (group.includes(".") ? pairsOf(group) : [Number.parseInt(group, 16)]))

const pairsOf = (ipv4: string): ReadonlyArray<number> => {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split(".").map(Number)
  return [(a << 8) | b, (c << 8) | d]
}

/** The IPv4 address that an IPv6 one stands for in any notation, or its /64: what one customer usually has. */
const clientOfIpv6 = (address: string): string => {
  const [head = "", tail] = address.split("::")
  const left = groupsOf(head)
  const right = groupsOf(tail ?? "")
  const zeros = Array.from({ length: GROUPS_OF_IPV6 - left.length - right.length }, () => 0)
  const groups = [...left, ...zeros, ...right]
  const isMapped = groups
    .slice(0, FIRST_GROUP_OF_IPV4)
    .every((group, at) => group === (at === FIRST_GROUP_OF_IPV4 - 1 ? MAPPED : 0))
  return isMapped
    ? groups
        .slice(FIRST_GROUP_OF_IPV4)
        .flatMap((group) => [group >> 8, group & LOW_BYTE])
        .join(".")
    : `${groups
        .slice(0, GROUPS_OF_NETWORK)
        .map((group) => group.toString(16))
        .join(":")}::/64`
}

/** An address as clients are told apart by it: IPv4 as it is, IPv6 by its /64 (docs/rules.md#heartbeats). */
export const clientOf = (address: string): string => {
  const [plain = address] = address.split("%")
  return isIPv6(plain) ? clientOfIpv6(plain) : plain
}

/** Where a request came from: the address that connected, unless a host server keeps it to itself, and what it says of others. */
export interface Origin {
  readonly peer: string | undefined
  /** The header X-Forwarded-For. */
  readonly forwardedFor: string | undefined
}

const IPV4_AND_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$/
const IN_BRACKETS = /^\[([^\]]+)\](?::\d+)?$/

/** Some proxies add the port, and with it the brackets of an IPv6 address. */
const withoutPort = (entry: string): string =>
  IPV4_AND_PORT.exec(entry)?.[1] ?? IN_BRACKETS.exec(entry)?.[1] ?? entry

/**
 * Names the client of a request: by the address that it connects from or, behind `trustedHops` proxies, by the one
 * that the outermost of them saw, which is so many from the end of X-Forwarded-For (docs/rules.md#heartbeats). What stands further
 * left anyone can have written.
 */
export const clientAddress = (
  { peer, forwardedFor = "" }: Origin,
  trustedHops: number,
): string | undefined => {
  if (trustedHops > 0) {
    const seen = forwardedFor.split(",").map((address) => address.trim())
    const claimed = withoutPort(seen.at(-Math.min(trustedHops, seen.length)) ?? "")
    if (isIP(claimed) !== 0) return clientOf(claimed)
  }
  return peer === undefined ? undefined : clientOf(peer)
}

/** The same of a request that the platform has parsed. */
export const requestAddress =
  (trustedHops: number) =>
  ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest): string | undefined =>
    clientAddress(
      { peer: Option.getOrUndefined(remoteAddress), forwardedFor: headers["x-forwarded-for"] },
      trustedHops,
    )

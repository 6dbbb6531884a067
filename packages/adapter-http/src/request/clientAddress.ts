import { isIP, isIPv6, type Socket } from "node:net"
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { NetAddress } from "effect/net"

const SEGMENTS_OF_NETWORK = 4

/** The IPv4 address that an IPv6 one stands for in any notation, or its /64, which one customer usually has. */
const clientOfIpv6 = (text: string): string => {
  const address = NetAddress.ipFromStringUnsafe(text)
  if (!NetAddress.isIpv6Address(address)) return text
  const mapped = NetAddress.fromIpv4Mapped(address)
  if (Option.isSome(mapped)) return NetAddress.ipv4ToOctets(mapped.value).join(".")
  const network = NetAddress.ipv6ToSegments(address).slice(0, SEGMENTS_OF_NETWORK)
  return `${network.map((segment) => segment.toString(16)).join(":")}::/64`
}

/** An address as rate limits distinguish clients: IPv4 as it is, IPv6 by its /64 (docs/rules.md#rate-limits). */
export const clientOf = (address: string): string => {
  const [plain = address] = address.split("%")
  return isIPv6(plain) ? clientOfIpv6(plain) : plain
}

/**
 * Whether a client has reset its connection before its address was asked for. The system has
 * forgotten the address, but would still give what was sent. A Unix socket never has an address.
 */
export const isReset = ({
  destroyed,
  localAddress,
  remoteAddress,
}: Pick<Socket, "destroyed" | "localAddress" | "remoteAddress">): boolean =>
  remoteAddress === undefined && (destroyed || localAddress !== undefined)

const IPV4_AND_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$/
const IN_BRACKETS = /^\[([^\]]+)\](?::\d+)?$/

/** Some proxies add the port, and with it the brackets of an IPv6 address. */
const withoutPort = (entry: string): string =>
  IPV4_AND_PORT.exec(entry)?.[1] ?? IN_BRACKETS.exec(entry)?.[1] ?? entry

/**
 * The client of a request: the address that connected or, behind `trustedHops` proxies, the one
 * that the outermost of them saw, counted from the end of X-Forwarded-For
 * (docs/rules.md#rate-limits). Anyone may have written the entries further left.
 */
export const clientAddress = (
  { peer, forwardedFor = "" }: Readonly<Record<"peer" | "forwardedFor", string | undefined>>,
  trustedHops: number,
): string | undefined => {
  if (trustedHops > 0) {
    const seen = forwardedFor.split(",").map((address) => address.trim())
    const claimed = withoutPort(seen.at(-Math.min(trustedHops, seen.length)) ?? "")
    if (isIP(claimed) !== 0) return clientOf(claimed)
  }
  return peer === undefined ? undefined : clientOf(peer)
}

export const requestAddress =
  (trustedHops: number) =>
  ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest): string | undefined =>
    clientAddress(
      { peer: Option.getOrUndefined(remoteAddress), forwardedFor: headers["x-forwarded-for"] },
      trustedHops,
    )

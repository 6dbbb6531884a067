/** A name in ASCII: labels of 1 to 63 characters, of which a dot may end the last one. */
const NAME = /^(?=.{1,254}$)(?:[a-z0-9_-]{1,63}(?:\.|$))+$/u
/** With a zone, such as `fe80::1%eth0`. */
const IPV6 = /^(?=[^:]*:)(?<address>[\da-f:.]+)(?:%[\da-z.:-]+)?$/iu
/** Characters that end the host of an address, or mean others. */
const NEVER = /[\s/?#@\\%:[\]]/u

/** Every platform has it; this package has the types of none. */
declare const URL: { readonly parse: (text: string) => { readonly hostname: string } | null }

const hostnameOf = (host: string): string => URL.parse(`http://${host}`)?.hostname ?? ""

/** A host as sockets take it: IPv6 without the brackets that it has in URLs. */
export const withoutBrackets = (host: string): string =>
  host.startsWith("[") && host.endsWith("]") && host.includes(":") ? host.slice(1, -1) : host

/** Whether a text is a host: a name of any letters, or an address. */
export const isHost = (text: string): boolean => {
  const address = IPV6.exec(withoutBrackets(text))?.groups?.["address"]
  if (address !== undefined) return hostnameOf(`[${address}]`) !== ""
  return !NEVER.test(text) && NAME.test(hostnameOf(text))
}

/**
 * The host and port of an address for the header field `Host`, from which Node.js takes the name for TLS:
 * without the dot that may end the name (RFC 6066, 3).
 */
export const hostField = ({ host }: { readonly host: string }): string => host.replace(/\.(?=:\d+$|$)/u, "")

/** The origin of an address: the same with a dot at the end of its name. */
export const originOf = (url: { readonly host: string; readonly protocol: string }): string =>
  `${url.protocol}//${hostField(url)}`

/** Labels of any characters, as reverse zones and services have them, and no address. */
export const DNS_NAME = /^(?!.*:\/\/)(?:\.|(?:[^\s.]{1,63}(?:\.|$))+)$/u

/** The address of a name server, which may have a port. */
export const addressOfServer = (server: string): string =>
  withoutBrackets(/^(?:\[.*\]|[^:]*):\d+$/u.test(server) ? server.slice(0, server.lastIndexOf(":")) : server)

const IPV4 = /^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/u
const HIGHEST_PORT = 65_535

/** Of a text that {@link isNameServer} refuses; completes the name of its place. */
export const NAME_SERVER_RULE = "must be an address such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:5353"

/** Whether a text is the address of a name server, with or without a port. */
export const isNameServer = (server: string): boolean => {
  const address = addressOfServer(server)
  const [, port = "53"] = /^(?:\[.*\]|[^:]*):(\d+)$/u.exec(server) ?? []
  const isPort = Number(port) >= 1 && Number(port) <= HIGHEST_PORT
  return isPort && (IPV4.test(address) || address.includes(":")) && isHost(address)
}

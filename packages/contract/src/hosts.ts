/** A name in ASCII: labels of 1 to 63 characters, of which a dot may end the last one. */
const NAME = /^(?=.{1,254}$)(?:[a-z0-9_-]{1,63}(?:\.|$))+$/u
const IPV6 = /^[\da-f:.]*:[\da-f:.]*$/iu
/** Characters that end the host of an address, or mean others. */
const NEVER = /[\s/?#@\\%:[\]]/u

/** Every platform has it; this package has the types of none. */
declare const URL: { readonly parse: (text: string) => { readonly hostname: string } | null }

const hostnameOf = (host: string): string => URL.parse(`http://${host}`)?.hostname ?? ""

/** Whether a text is a host: a name of any letters, or an address, of IPv6 without brackets. */
export const isHost = (text: string): boolean =>
  IPV6.test(text) ? hostnameOf(`[${text}]`) !== "" : !NEVER.test(text) && NAME.test(hostnameOf(text))

/**
 * The host and port of an address for the header field `Host`, from which Node.js takes the name for TLS:
 * without the dot that may end the name (RFC 6066, 3).
 */
export const hostField = ({ host }: { readonly host: string }): string => host.replace(/\.(?=:\d+$|$)/u, "")

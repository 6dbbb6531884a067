import { withoutTrailing } from "../formats/withoutTrailing.ts"

/** The start of a watch, as people write it: an address. */
export interface WatchOfAddress {
  readonly name: string
  readonly probe:
    | { readonly http: { readonly url: string } }
    | { readonly tcp: { readonly host: string; readonly port: number } }
    | { readonly tls: { readonly host: string; readonly port?: number } }
    | { readonly dns: { readonly name: string } }
    | { readonly ping: { readonly host: string } }
    | { readonly websocket: { readonly url: string } }
}

export const WATCH_ADDRESSES =
  "an address such as https://example.org/, tcp://db.example.org:5432, tls://example.org, dns:example.org, ping:example.org or wss://example.org/"

const LONGEST_NAME = 128

const nameOf = (text: string): string =>
  withoutTrailing(text.replaceAll(/[[\]]/g, "").replaceAll(/[^A-Za-z0-9._:-]+/g, "_"), "_").slice(
    0,
    LONGEST_NAME,
  )

/** The address of a page that can be watched. Everyone who may read sees it: it has no user. */
export const PAGE_ADDRESS = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/?#@\\]+(?:[/?#]\S*)?$/u
export const SOCKET_ADDRESS = /^[Ww][Ss]{1,2}:\/\/[^\s/?#@\\]+(?:[/?]\S*)?$/u
const SCHEME_OR_QUERY = /^(?:https?|wss?):\/\/|[?#].*$/giu
const PORT =
  /^(?<kind>tcp|tls):\/\/(?:\[(?<v6>[\da-f:.]+)\]|(?<plain>[^/?#@:\s]+))(?::(?<port>\d{1,5}))?\/?$/iu
const NAME = /^dns:(?:\/\/)?(?<name>[^/?#@:\s]+)$/iu
const PINGED = /^ping:(?:\/\/)?(?:\[(?<v6>[\da-f:.]+)\]|(?<plain>[^-/?#@:\s][^/?#@:\s]*))$/iu

/** The watch of an address, with a name for its check, if it is one. */
export const watchOfAddress = (address: string): WatchOfAddress | undefined => {
  if (PAGE_ADDRESS.test(address))
    return { name: nameOf(address.replaceAll(SCHEME_OR_QUERY, "")), probe: { http: { url: address } } }
  if (SOCKET_ADDRESS.test(address))
    return {
      name: nameOf(`ws:${address.replaceAll(SCHEME_OR_QUERY, "")}`),
      probe: { websocket: { url: address } },
    }
  const pinged = PINGED.exec(address)?.groups
  const target = pinged?.["v6"] ?? pinged?.["plain"]
  if (target !== undefined) return { name: nameOf(`ping:${target}`), probe: { ping: { host: target } } }
  const { kind, plain, port: digits, v6 } = PORT.exec(address)?.groups ?? {}
  const host = v6 ?? plain
  const port = digits === undefined ? undefined : Number(digits)
  if (host !== undefined && kind?.toLowerCase() === "tls")
    return {
      name: nameOf(`tls:${host}${port === undefined ? "" : `:${port}`}`),
      probe: { tls: { host, ...(port !== undefined && { port }) } },
    }
  if (host !== undefined && port !== undefined)
    return { name: nameOf(`${host}:${port}`), probe: { tcp: { host, port } } }
  const name = NAME.exec(address)?.groups?.["name"]
  return name === undefined ? undefined : { name: nameOf(`dns:${name}`), probe: { dns: { name } } }
}

const inBrackets = (host: string): string => (host.includes(":") ? `[${host}]` : host)

/** The address of a watch, as {@link watchOfAddress} reads it. */
export const addressOfWatch = ({
  dns,
  http,
  ping,
  tcp,
  tls,
  websocket,
}: {
  readonly http?: { readonly url: string } | undefined
  readonly tcp?: { readonly host: string; readonly port: number } | undefined
  readonly tls?: { readonly host: string; readonly port?: number | undefined } | undefined
  readonly dns?: { readonly name: string } | undefined
  readonly ping?: { readonly host: string } | undefined
  readonly websocket?: { readonly url: string } | undefined
}): string => {
  if (http !== undefined) return http.url
  if (websocket !== undefined) return websocket.url
  if (ping !== undefined) return `ping:${inBrackets(ping.host)}`
  if (tcp !== undefined) return `tcp://${inBrackets(tcp.host)}:${tcp.port}`
  if (tls !== undefined) return `tls://${inBrackets(tls.host)}${tls.port === undefined ? "" : `:${tls.port}`}`
  return `dns:${dns?.name ?? ""}`
}

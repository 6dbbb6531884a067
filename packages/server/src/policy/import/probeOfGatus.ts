import { durationText } from "@tocsin/contract/formats/durationMillis"
import { addressOfServer } from "@tocsin/contract/formats/hosts"
import { PAGE_ADDRESS, SOCKET_ADDRESS } from "@tocsin/contract/watches/watchOfAddress"
import { TIMES } from "@tocsin/contract/watches/watchOptions"
import { isIP } from "node:net"
import { secondsOf } from "./conditionsOfGatus.ts"
import type { MovedPolicy } from "./MovedPolicy.ts"
import { text } from "./movedReceivers.ts"
import { EXPIRED, headersOf } from "./probeOfKuma.ts"

/** A part of a configuration. */
export interface Options {
  [name: string]: unknown
}

export const isMap = (value: unknown): value is Options =>
  typeof value === "object" && value !== null && !Array.isArray(value)

type Probe = readonly [string, Options] | string
type Leave = (why: string) => void

const nameOf = (url: string, dns: Options, leave: Leave): Probe => {
  const type = text(dns["query-type"]) || "A"
  const server = url.replace(/^\w+:\/\//, "")
  const address = addressOfServer(server)
  if (isIP(address) === 0) leave(`its name server ${server}, which is no address`)
  const port = /^(?:[^:]*|\[.*\]):(\d+)$/.exec(server)?.[1] ?? "53"
  return [
    "dns",
    {
      name: text(dns["query-name"]),
      ...(type !== "A" && { type }),
      ...(isIP(address) !== 0 && { servers: [`${isIP(address) === 6 ? `[${address}]` : address}:${port}`] }),
    },
  ]
}

/** The text that an endpoint sends on a connection. */
const sent = (endpoint: Options): Options => {
  const { body } = endpoint
  return typeof body === "string" && body !== "" ? { send: body } : {}
}

/** The settings of an endpoint's client that a watch has, too. The others are named. */
const clientOf = ({ client, url }: Options, kind: string, leave: Leave): Options => {
  const options: Options = {}
  for (const [name, value] of Object.entries(isMap(client) ? client : {})) {
    const seconds = name === "timeout" ? secondsOf(value, 0) : 0
    if (name === "insecure" && VERIFIED.has(kind)) options["verify"] = value !== true
    else if (name === "ignore-redirect" && kind === "http" && value === true) options["redirects"] = 0
    else if (seconds >= 1) {
      options["timeout"] = durationText(Math.round(Math.min(seconds, LONGEST_TIMEOUT) * 1_000))
      if (seconds > LONGEST_TIMEOUT) leave(`its timeout of ${seconds} s, of which ${LONGEST_TIMEOUT} stay`)
    } else if (value !== false) leave(`its setting client.${name}`)
  }
  if (options["verify"] === true) delete options["verify"]
  // A websocket says nothing of days, nor has plain HTTP a certificate.
  else if ("verify" in options && kind !== "websocket" && !text(url).startsWith("http:")) leave(EXPIRED)
  return options
}

const VERIFIED = new Set(["http", "tls", "websocket"])
const LONGEST_TIMEOUT = TIMES.timeout.max / 1_000

/** The kind of a probe and its options, or why there is none. */
export const probeOf = (moved: MovedPolicy, id: string, endpoint: Options, leave: Leave): Probe => {
  const probe = kindOf(moved, id, endpoint, leave)
  if (typeof probe === "string") return probe
  const [kind, options] = probe
  return [kind, { ...options, ...clientOf(endpoint, kind, leave) }]
}

const kindOf = (moved: MovedPolicy, id: string, endpoint: Options, leave: Leave): Probe => {
  const url = text(endpoint["url"])
  if (/\$\{?\w/.test(url)) return "its address has a variable"
  const dns = endpoint["dns"]
  const [, scheme = "", host = "", port] = /^(\w+):\/\/(\[[^\]]+\]|[^:/?#]+)(?::(\d+))?/.exec(url) ?? []
  const target = host.replace(/^\[(.*)\]$/, "$1")
  const number = port === undefined ? undefined : Number(port)
  if (isMap(dns)) return nameOf(url, dns, leave)
  switch (scheme) {
    case "http":
    case "https": {
      if (!PAGE_ADDRESS.test(url)) return "its address has a user"
      const method = text(endpoint["method"]).toUpperCase() || "GET"
      const body = typeof endpoint["body"] === "string" ? endpoint["body"] : ""
      if (endpoint["graphql"] === true) leave("that its body is GraphQL: write it as { query }")
      const fields = isMap(endpoint["headers"]) ? endpoint["headers"] : {}
      const isSent = body !== "" && method !== "GET" && method !== "HEAD"
      if (body !== "" && !isSent) leave(`its body, which ${method} does not send`)
      return [
        "http",
        {
          url,
          ...(method !== "GET" && { method }),
          ...(Object.keys(fields).length > 0 && { headers: headersOf(moved, id, fields) }),
          ...(isSent && { body }),
        },
      ]
    }
    case "tcp":
      if (number === undefined) return "its address has no port"
      return ["tcp", { host: target, port: number, ...sent(endpoint) }]
    case "icmp":
      return ["ping", { host: target }]
    case "tls":
    case "starttls":
      if (text(endpoint["body"]) !== "") leave("its body, which a watch of a certificate does not send")
      return [
        "tls",
        {
          host: target,
          ...(number !== undefined && { port: number }),
          ...(scheme === "starttls" && { starttls: "smtp" }),
        },
      ]
    case "ws":
    case "wss": {
      if (!SOCKET_ADDRESS.test(url)) return "its address has a user"
      const fields = isMap(endpoint["headers"]) ? endpoint["headers"] : {}
      const hasFields = Object.keys(fields).length > 0
      const headers = hasFields ? { headers: headersOf(moved, id, fields) } : {}
      return ["websocket", { url, ...headers, ...sent(endpoint) }]
    }
    default:
      return `its address ${url} is of no kind that a watch has`
  }
}

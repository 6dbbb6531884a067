import { PAGE_ADDRESS, SOCKET_ADDRESS } from "@tocsin/contract/watches/watchOfAddress"
import type { MovedPolicy } from "./MovedPolicy.ts"
import { headersOf } from "./probeOfKuma.ts"

/** A part of a configuration. */
export interface Options {
  [name: string]: unknown
}

export const isMap = (value: unknown): value is Options =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const text = (value: unknown): string => (typeof value === "string" ? value.trim() : "")

type Probe = readonly [string, Options] | string

const nameOf = (url: string, dns: Options): Probe => {
  const type = text(dns["query-type"]) || "A"
  const server = url.replace(/^\w+:\/\//, "")
  return [
    "dns",
    {
      name: text(dns["query-name"]),
      ...(type !== "A" && { type }),
      servers: [/:\d+$/.test(server) ? server : `${server}:53`],
    },
  ]
}

/** The kind of a probe and its options, or why there is none. */
export const probeOf = (
  moved: MovedPolicy,
  id: string,
  endpoint: Options,
  leave: (why: string) => void,
): Probe => {
  const url = text(endpoint["url"])
  if (/\$\{?\w/.test(url)) return "its address has a variable"
  const dns = endpoint["dns"]
  const [, scheme = "", host = "", port] = /^(\w+):\/\/(\[[^\]]+\]|[^:/?#]+)(?::(\d+))?/.exec(url) ?? []
  const target = host.replace(/^\[(.*)\]$/, "$1")
  const number = port === undefined ? undefined : Number(port)
  if (isMap(dns)) return nameOf(url, dns)
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
      return number === undefined ? "its address has no port" : ["tcp", { host: target, port: number }]
    case "icmp":
      return ["ping", { host: target }]
    case "tls":
    case "starttls":
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
      return ["websocket", { url, ...(text(endpoint["body"]) !== "" && { send: endpoint["body"] }) }]
    }
    default:
      return `its address ${url} is of no kind that a watch has`
  }
}

const all = (names: string): ReadonlyArray<string> => `${names} timeout time`.split(" ")

/** The options of watches by the kinds of their probes: an agent runs no others for a server (docs/rules.md#places). */
export const watchOptions = {
  http: all("url method headers auth body status text expect secret redirects verify days"),
  tcp: all("host port send expect"),
  tls: all("host port name starttls verify days"),
  dns: all("name type servers expect"),
  ping: all("host count loss"),
  websocket: all("url headers send expect verify"),
}

/** The options of watches and of the agent's probes, each stated here alone (docs/watches.md). */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const
export const RECORD_TYPES = ["A", "AAAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT"] as const

/** Protocols that begin without TLS, with their usual ports. */
export const STARTTLS_PORTS = {
  smtp: 25,
  imap: 143,
  pop3: 110,
  ftp: 21,
  xmpp: 5_222,
  postgres: 5_432,
  mysql: 3_306,
  ldap: 389,
} as const
export type StartTls = keyof typeof STARTTLS_PORTS
// The keys of a constant.
export const STARTTLS_NAMES = Object.keys(STARTTLS_PORTS) as ReadonlyArray<StartTls>

/** Whole numbers. */
export const BOUNDS = {
  port: { min: 1, max: 65_535 },
  status: { min: 100, max: 599 },
  redirects: { min: 0, max: 20 },
  count: { min: 1, max: 10 },
  percent: { min: 1, max: 100 },
  days: { min: 1, max: 3_650 },
} as const

/** Milliseconds. Of the agent's own checks, times are bounded by a day. */
export const TIMES = {
  every: { min: 10_000, max: 86_400_000 },
  timeout: { min: 1_000, max: 30_000 },
  time: { min: 1, max: 30_000 },
} as const

/** How many there may be. */
export const MOST = {
  statuses: 100,
  ranges: 20,
  values: 20,
  secret: 40,
  headers: 50,
  servers: 10,
  records: 100,
} as const

/** Characters; of `sent` bytes. */
export const LONGEST = {
  name: 253,
  url: 2_048,
  line: 4_096,
  value: 1_024,
  sent: 8_192,
  output: 1_000,
} as const

/** Header fields that hold no secret (docs/watches.md#secrets). */
export const OPEN_FIELDS: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "content-type",
  "user-agent",
])

/** The check as which an agent reports a watch. */
export const PLACE_CHECKS = "watch:"

const READING: ReadonlySet<unknown> = new Set([undefined, "GET", "HEAD", "OPTIONS"])

/** The option by which a probe may change something where it goes; `undefined` if it only reads. */
export const writingOption = (options: {
  readonly method?: unknown
  readonly body?: unknown
  readonly send?: unknown
}): "body" | "method" | "send" | undefined => {
  if (options.body !== undefined) return "body"
  if (options.send !== undefined) return "send"
  return READING.has(options.method) ? undefined : "method"
}

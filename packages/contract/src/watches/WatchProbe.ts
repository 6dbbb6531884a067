import { Result, Schema, SchemaParser } from "effect"
import { DurationText } from "../formats/DurationText.ts"
import { boundedText, closedStruct, fromOneTo, named, optional } from "../formats/Fields.ts"
import { DNS_NAME, isHost } from "../formats/hosts.ts"
import { PAGE_ADDRESS, SOCKET_ADDRESS } from "./watchOfAddress.ts"
import { BOUNDS, LONGEST, METHODS, MOST, RECORD_TYPES, STARTTLS_NAMES, TIMES } from "./watchOptions.ts"

export const bounded = ({ max: maximum, min: minimum }: { readonly min: number; readonly max: number }) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const hostName = boundedText(LONGEST.name).check(
  Schema.makeFilter(isHost, { expected: "a host name or an address", toJsonSchema: () => ({}) }),
)

const timeout = optional(DurationText(TIMES.timeout), "How long to wait for the answer: 10s unless given.")

const DAYS_RULE = {
  expected: `a whole number of days from ${BOUNDS.days.min} to ${BOUNDS.days.max}; without it, the certificate's lifetime decides`,
}
const wholeDays = Schema.Number.check(
  Schema.isInt(DAYS_RULE),
  Schema.isBetween({ minimum: BOUNDS.days.min, maximum: BOUNDS.days.max }, DAYS_RULE),
)

const days = optional(
  closedStruct({
    warning: optional(wholeDays, "Fewer days are a warning."),
    critical: optional(wholeDays, "Fewer days are critical."),
  }),
  "How many days the certificate must have left.",
)

const verify = optional(Schema.Boolean, "Whether the certificate must be trusted: true unless given.")

const bound = DurationText(TIMES.time)

const time = optional(
  closedStruct({
    warning: optional(bound, "A longer time is a warning."),
    critical: optional(bound, "A longer time is critical."),
  }).annotate(named("WatchTime", "How long the answer may take.")),
  "How long the answer may take.",
)

const VALUE_TEXT =
  'exists, absent, "< 5" with < <= > >=, "~ GLOB", "= TEXT", "!= TEXT", or a text that it must be'

const ConditionValue = Schema.Union([
  Schema.String.check(Schema.isMaxLength(LONGEST.value)),
  Schema.Finite,
  Schema.Boolean,
  Schema.Null,
]).annotate({
  identifier: "ConditionValue",
  description: `A number, true, false or null: that very value. A text: ${VALUE_TEXT}.`,
  expected: "a text, a number, true, false or null",
})

const ConditionValues = Schema.Record(Schema.String, ConditionValue).check(
  Schema.isMaxProperties(MOST.values, { expected: `at most ${MOST.values} of them` }),
)

const searchedText = boundedText(LONGEST.line)

const status = bounded(BOUNDS.status)

const conditions = {
  status: optional(
    Schema.Array(
      Schema.Union([status, Schema.String]).annotate({
        expected: 'a number from 100 to 599, or a range such as "300-399"',
      }),
    ).check(...fromOneTo(MOST.ranges)),
    'Statuses, and ranges such as "300-399".',
  ),
  header: optional(ConditionValues, "What header fields must be, by name."),
  text: optional(searchedText, "A text that the first MiB must contain."),
  not_text: optional(searchedText, "A text that the first MiB must not contain."),
  json: optional(ConditionValues, "What members of a JSON document must be, by JSON Pointer."),
}

const PageConditions = closedStruct({
  ...conditions,
  warning: optional(closedStruct(conditions), "The same; what fails here is a warning."),
}).annotate(named("PageConditions", "What an answer must be: all of them hold."))

const PAGE_RULE = "an http or https address without a user"

const decodeUrl = SchemaParser.decodeUnknownResult(Schema.URLFromString)

/** Of the addresses of a form, some have a port or a host that cannot be. */
const isAddress = (form: RegExp, expected: string) =>
  Schema.makeFilter((text: string) => !form.test(text) || Result.isSuccess(decodeUrl(text)), {
    expected,
    toJsonSchema: () => ({}),
  })

export const httpFields = {
  url: boundedText(LONGEST.url)
    .check(Schema.isPattern(PAGE_ADDRESS, { expected: PAGE_RULE }), isAddress(PAGE_ADDRESS, PAGE_RULE))
    .annotateKey({ description: "An http or https address without a user." }),
  method: optional(Schema.Literals(METHODS), "GET unless given."),
  status: optional(
    Schema.Array(status).check(...fromOneTo(MOST.statuses)),
    "The statuses that are ok: 200 to 299 unless given.",
  ),
  text: optional(searchedText, "A text that the first MiB of the answer must contain."),
  expect: optional(PageConditions, "What the answer must be."),
  secret: optional(
    Schema.Array(boundedText(LONGEST.value)).check(...fromOneTo(MOST.secret)),
    "JSON Pointers and names of header fields whose values no result shows.",
  ),
  redirects: optional(bounded(BOUNDS.redirects), "How many redirects to follow: 5 unless given."),
  verify,
  days,
  timeout,
  time,
}

const headers = optional(
  Schema.Record(Schema.String, boundedText(LONGEST.line)),
  "Header fields to send to this origin, at most 50. No answer shows them.",
)

export const credential = boundedText(LONGEST.line).check(
  // oxlint-disable-next-line eslint/no-control-regex -- control characters are what it looks for
  Schema.isPattern(/^[^\u0000-\u001f]*$/u, { expected: "a text without control characters" }),
)

const auth = optional(
  closedStruct({
    bearer: optional(credential, "A token."),
    basic: optional(closedStruct({ user: credential, password: credential }), "A user and a password."),
  }).annotate(named("WatchAuth", "Credentials for this origin: either of them.")),
  "Credentials to send to this origin. No answer shows them.",
)

export const body = optional(
  Schema.Union([
    Schema.String.check(Schema.isMaxLength(LONGEST.sent)),
    Schema.Record(Schema.String, Schema.Unknown),
    Schema.Array(Schema.Unknown),
  ]).annotate({ expected: "a text, an object or a list" }),
  "What to send, of at most 8192 bytes: a text, or an object or list as JSON. No answer shows it.",
)

const HttpWatch = closedStruct({ ...httpFields, headers, auth, body }).annotate(
  named("HttpWatch", "Asks for a page."),
)

const hostAndPort = {
  host: hostName.annotateKey({ description: "A host name or an address." }),
  port: bounded(BOUNDS.port),
}

const send = optional(boundedText(LONGEST.sent), "A text to send.")

export const TcpWatch = closedStruct({
  ...hostAndPort,
  send,
  expect: optional(searchedText, "A text that must come within the first 64 KiB."),
  timeout,
  time,
}).annotate(named("TcpWatch", "Connects to a port."))

export const TlsWatch = closedStruct({
  ...hostAndPort,
  port: optional(hostAndPort.port, "443 unless given."),
  name: optional(hostName, "The name that the certificate must have: the host unless given."),
  starttls: optional(
    Schema.Literals(STARTTLS_NAMES),
    "The protocol that begins without TLS, whose port is the usual one unless given.",
  ),
  verify,
  days,
  timeout,
  time,
}).annotate(named("TlsWatch", "Examines the certificate of a server."))

export const DnsWatch = closedStruct({
  name: boundedText(LONGEST.name)
    .check(Schema.isPattern(DNS_NAME, { expected: "a name such as shop.example", toJsonSchema: () => ({}) }))
    .annotateKey({ description: "The name to resolve." }),
  type: optional(Schema.Literals(RECORD_TYPES), "The type of records: A unless given."),
  servers: optional(
    Schema.Array(boundedText(64)).check(...fromOneTo(MOST.servers)),
    "Addresses of name servers, with or without port: those of the host unless given.",
  ),
  expect: optional(
    Schema.Array(boundedText(LONGEST.value)).check(...fromOneTo(MOST.records)),
    "Records of which each must be there.",
  ),
  timeout,
  time,
}).annotate(named("DnsWatch", "Resolves a name."))

const percent = bounded(BOUNDS.percent)

export const PingWatch = closedStruct({
  host: hostAndPort.host,
  count: optional(bounded(BOUNDS.count), "How many packets to send: 3 unless given."),
  loss: optional(
    closedStruct({
      warning: optional(percent, "This percentage of lost packets is a warning."),
      critical: optional(percent, "This percentage is critical: 100 unless given."),
    }),
    "How many packets may be lost.",
  ),
  timeout,
  time,
}).annotate(named("PingWatch", "Sends packets to a host by the system's program ping."))

const SOCKET_RULE = "a ws or wss address without a user"

export const socketFields = {
  url: boundedText(LONGEST.url)
    .check(
      Schema.isPattern(SOCKET_ADDRESS, { expected: SOCKET_RULE }),
      isAddress(SOCKET_ADDRESS, SOCKET_RULE),
    )
    .annotateKey({ description: "A ws or wss address without a user." }),
  send,
  expect: optional(searchedText, "A text that a text message must contain."),
  verify,
  timeout,
  time,
}

const SocketWatch = closedStruct({ ...socketFields, headers }).annotate(
  named("WebsocketWatch", "Opens a WebSocket."),
)

export const probes = {
  http: optional(HttpWatch, "Asks for a page."),
  tcp: optional(TcpWatch, "Connects to a port."),
  tls: optional(TlsWatch, "Examines the certificate of a server."),
  dns: optional(DnsWatch, "Resolves a name."),
  ping: optional(PingWatch, "Sends packets to a host."),
  websocket: optional(SocketWatch, "Opens a WebSocket."),
}

const WatchProbe = Schema.Struct(probes)
/** The probe of a watch: exactly one of its fields. */
export type WatchProbe = typeof WatchProbe.Type

/** A probe without what may be a secret, by which its target and its options are judged. */
export type ProbeTarget = {
  readonly [K in keyof WatchProbe]: Omit<NonNullable<WatchProbe[K]>, "headers" | "auth" | "body">
}

/** A probe as it is stored, its durations as texts. */
export type StoredProbe = typeof WatchProbe.Encoded

export const probeKinds = ["http", "tcp", "tls", "dns", "ping", "websocket"] as const satisfies ReadonlyArray<
  keyof WatchProbe
>

export const probesIn = (request: ProbeTarget): ReadonlyArray<(typeof probeKinds)[number]> =>
  probeKinds.filter((kind) => request[kind] !== undefined)

/** A probe without what else a request has. */
export const encodeProbe = (probe: WatchProbe): StoredProbe => Schema.encodeSync(WatchProbe)(probe)

/** A stored probe; fails where another version of Tocsin stored it. */
export const decodeProbe = (stored: StoredProbe): WatchProbe => Schema.decodeSync(WatchProbe)(stored)

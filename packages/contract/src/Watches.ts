import { Result, Schema, SchemaParser } from "effect"
import { DurationText } from "./DurationText.ts"
import { closedStruct, named, NonNegativeInteger, optional } from "./Fields.ts"
import { CheckId } from "./Identifiers.ts"
import { InstantFromString } from "./Instant.ts"
import { CheckStatus } from "./Status.ts"
import { DNS_NAME, isHost } from "./hosts.ts"
import { PAGE_ADDRESS } from "./watchOfAddress.ts"

const bounded = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const ofLength = (most: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(most))

const hostName = ofLength(253).check(
  Schema.makeFilter(isHost, { expected: "a host name or an address", toJsonSchema: () => ({}) }),
)

const timeout = optional(
  DurationText({ min: "1 second", max: "30 seconds" }),
  "How long to wait for the answer: 10s unless given.",
)

const DAYS_RULE = {
  expected: "a whole number of days from 1 to 3650; without it, the certificate's lifetime decides",
}
const wholeDays = Schema.Number.check(
  Schema.isInt(DAYS_RULE),
  Schema.isBetween({ minimum: 1, maximum: 3_650 }, DAYS_RULE),
)

const days = optional(
  closedStruct({
    warning: optional(wholeDays, "Fewer days are a warning."),
    critical: optional(wholeDays, "Fewer days are critical."),
  }),
  "How many days the certificate must have left.",
)

const verify = optional(Schema.Boolean, "Whether the certificate must be trusted: true unless given.")

const PAGE_RULE = "an http or https address without a user"

const decodeUrl = SchemaParser.decodeUnknownResult(Schema.URLFromString)

/** Of the addresses of this form, some have a port or a host that cannot be. */
const isAddress = Schema.makeFilter(
  (text: string) => !PAGE_ADDRESS.test(text) || Result.isSuccess(decodeUrl(text)),
  {
    expected: PAGE_RULE,
    toJsonSchema: () => ({}),
  },
)

const httpFields = {
  url: ofLength(2_048)
    .check(Schema.isPattern(PAGE_ADDRESS, { expected: PAGE_RULE }), isAddress)
    .annotateKey({ description: "An http or https address without a user." }),
  method: optional(Schema.Literals(["GET", "HEAD"]), "GET unless given."),
  status: optional(
    Schema.Array(bounded(100, 599)).check(Schema.isMinLength(1), Schema.isMaxLength(100)),
    "The statuses that are ok: 200 to 299 unless given.",
  ),
  text: optional(ofLength(4_096), "A text that the first MiB of the answer must contain."),
  redirects: optional(bounded(0, 20), "How many redirects to follow: 5 unless given."),
  verify,
  days,
  timeout,
}

const HttpWatch = closedStruct({
  ...httpFields,
  headers: optional(
    Schema.Record(Schema.String, ofLength(4_096)),
    "Header fields to send to this origin, at most 50. No answer shows them.",
  ),
}).annotate(named("HttpWatch", "Asks for a page."))

const hostAndPort = {
  host: hostName.annotateKey({ description: "A host name or an address." }),
  port: bounded(1, 65_535),
}

const TcpWatch = closedStruct({ ...hostAndPort, timeout }).annotate(named("TcpWatch", "Connects to a port."))

const TlsWatch = closedStruct({
  ...hostAndPort,
  port: optional(hostAndPort.port, "443 unless given."),
  name: optional(hostName, "The name that the certificate must have: the host unless given."),
  verify,
  days,
  timeout,
}).annotate(named("TlsWatch", "Examines the certificate of a server."))

const DnsWatch = closedStruct({
  name: ofLength(253)
    .check(Schema.isPattern(DNS_NAME, { expected: "a name such as shop.example", toJsonSchema: () => ({}) }))
    .annotateKey({ description: "The name to resolve." }),
  type: optional(
    Schema.Literals(["A", "AAAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT"]),
    "The type of records: A unless given.",
  ),
  timeout,
}).annotate(named("DnsWatch", "Resolves a name."))

const probes = {
  http: optional(HttpWatch, "Asks for a page."),
  tcp: optional(TcpWatch, "Connects to a port."),
  tls: optional(TlsWatch, "Examines the certificate of a server."),
  dns: optional(DnsWatch, "Resolves a name."),
}

const WatchProbe = Schema.Struct(probes)
/** The probe of a watch: exactly one of its fields. */
export type WatchProbe = typeof WatchProbe.Type

/** A probe as it is stored, its durations as texts. */
export type StoredProbe = typeof WatchProbe.Encoded

const probeKinds = ["http", "tcp", "tls", "dns"] as const satisfies ReadonlyArray<keyof WatchProbe>

export const probesIn = (request: WatchProbe): ReadonlyArray<(typeof probeKinds)[number]> =>
  probeKinds.filter((kind) => request[kind] !== undefined)

/** A probe without what else a request has. */
export const encodeProbe = (probe: WatchProbe): StoredProbe => Schema.encodeSync(WatchProbe)(probe)

/** A stored probe; fails where another version of Tocsin stored it. */
export const decodeProbe = (stored: StoredProbe): WatchProbe => Schema.decodeSync(WatchProbe)(stored)

export const WatchTrial = Schema.Struct({
  status: CheckStatus,
  output: Schema.String.annotate({
    description: "The status and the time, in words; of the answer's body, only the wanted text.",
  }),
  duration_ms: NonNegativeInteger.annotate({ description: "How long the probe took, in milliseconds." }),
}).annotate(named("WatchTrial", "The result of a probe that nothing stores."))
export type WatchTrial = typeof WatchTrial.Type

const times = bounded(1, 10)

const Confirm = closedStruct({
  bad: optional(times, "How many results in a row must not be ok: 2 unless given."),
  good: optional(times, "How many results in a row must be ok: 1 unless given."),
}).annotate(named("WatchConfirm", "When a status counts."))

const Every = DurationText({ min: "10 seconds", max: "1 day" })

const settings = {
  every: optional(Every, "The time from one probe to the next: 1m unless given."),
  confirm: optional(Confirm, "When a status counts."),
  ...probes,
}

/** The usual time from one probe to the next, in milliseconds. */
export const USUAL_EVERY_MILLIS = 60_000

/** The usual numbers of results that make a status count. */
export const USUAL_CONFIRM = { bad: 2, good: 1 } as const

export const MOST_WATCHES = 1_000

/** Names a watch, and its check. */
const WatchName = CheckId

export const CreateWatchRequest = closedStruct({ name: WatchName, ...settings }).annotate(
  named("CreateWatchRequest", "A new watch, with exactly one probe."),
)
export type CreateWatchRequest = typeof CreateWatchRequest.Type

/** The body of POST watches/try (docs/rules.md#watches). */
export const TryWatchRequest = closedStruct({
  name: optional(WatchName, "Any name: a trial has none."),
  ...settings,
}).annotate(named("TryWatchRequest", "A watch as it would be created, or its probe alone."))
export type TryWatchRequest = typeof TryWatchRequest.Type

/** A watch that a policy defines. Header fields may be secrets, which stay outside the policy. */
export const PolicyWatch = Schema.Struct({
  name: WatchName,
  ...settings,
  http: Schema.optionalKey(Schema.Struct(httpFields)),
})
export type PolicyWatch = typeof PolicyWatch.Type

export const ChangeWatchRequest = closedStruct({
  ...settings,
  is_paused: optional(Schema.Boolean, "Whether to probe no more until false is sent."),
}).annotate(
  named(
    "ChangeWatchRequest",
    "Absent fields stay as they are. A probe replaces the former one, with its headers.",
  ),
)
export type ChangeWatchRequest = typeof ChangeWatchRequest.Type

export const PauseWatchRequest = closedStruct({
  for: DurationText({ min: "0 seconds", max: "1 day" }).annotateKey({
    description: "For how long to probe no more, up to 24h; 0s ends a pause.",
  }),
}).annotate(named("PauseWatchRequest", "How long a pause lasts."))
export type PauseWatchRequest = typeof PauseWatchRequest.Type

/** A watch as it is shown: without header fields. */
export const Watch = Schema.Struct({
  name: WatchName,
  every: Schema.toEncoded(Every),
  confirm: Schema.Struct({ bad: times, good: times }),
  http: optional(
    Schema.toEncoded(Schema.Struct(httpFields)),
    "Asks for a page. Its header fields are not shown.",
  ),
  tcp: optional(Schema.toEncoded(TcpWatch), "Connects to a port."),
  tls: optional(Schema.toEncoded(TlsWatch), "Examines the certificate of a server."),
  dns: optional(Schema.toEncoded(DnsWatch), "Resolves a name."),
  is_of_policy: Schema.Boolean.annotateKey({
    description: "Whether the policy defines it: then only the policy changes or removes it.",
  }),
  is_paused: Schema.Boolean,
  paused_until: Schema.NullOr(InstantFromString).annotateKey({
    description: "When its pause ends; null without one, and for one that lasts until it is ended.",
  }),
  status: Schema.NullOr(CheckStatus).annotateKey({
    description: "The status that counts; null before the first one.",
  }),
  last: Schema.NullOr(
    Schema.Struct({ at: InstantFromString, status: CheckStatus, output: Schema.String }).annotate(
      named("WatchProbe", "The result of the latest probe."),
    ),
  ).annotateKey({ description: "The latest probe, whether its status counts or not." }),
  unconfirmed: NonNegativeInteger.annotateKey({
    description: "How many results in a row contradict the status that counts.",
  }),
  next_probe_at: InstantFromString,
  created_at: InstantFromString,
  created_by: Schema.String.annotateKey({ description: "The operator who created it." }),
}).annotate(named("Watch", "A probe that the service repeats."))
export type Watch = typeof Watch.Type

export const WatchPath = Schema.Struct({
  name: WatchName.annotateKey({ description: "The name of a watch." }),
})

import { Schema } from "effect"
import { DurationText } from "../formats/DurationText.ts"
import { closedStruct, described, named, NonNegativeInteger, optional } from "../formats/Fields.ts"
import { AgentId, CheckId } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { CheckStatus } from "../formats/Status.ts"
import { CheckLabels } from "../labels/Labels.ts"
import { Fails, placeFields, PlaceStatus, WatchPlace } from "./places.ts"
import { changedTitle, ShownTitle, Title } from "../titles/Titles.ts"
import {
  body,
  bounded,
  credential,
  DnsWatch,
  httpFields,
  PingWatch,
  probes,
  socketFields,
  TcpWatch,
  TlsWatch,
} from "./WatchProbe.ts"
import { TIMES } from "./watchOptions.ts"

const secretPlace = Schema.Union([
  closedStruct({
    env: Schema.String.check(
      Schema.isPattern(/^TOCSIN_SECRET_\w{1,200}$/u, {
        expected: "a variable that begins with TOCSIN_SECRET_",
      }),
    ),
  }),
  closedStruct({
    file: Schema.String.check(
      Schema.isPattern(/^(?!\.{1,2}$)[^/\\\0]{1,255}$/u, {
        expected: "the name of a file in SERVICE_SECRETS_DIR, without a folder",
      }),
    ),
  }),
]).annotate({
  identifier: "SecretPlace",
  description: "A variable, or a file of SERVICE_SECRETS_DIR, that has the secret.",
  expected: "{ env: TOCSIN_SECRET_… } or { file: NAME }",
})

const textOrPlace = Schema.Union([credential, secretPlace]).annotate({
  expected: "a text, { env: TOCSIN_SECRET_… } or { file: NAME }",
})

/** Header fields as a policy has them. */
const placedHeaders = Schema.optionalKey(Schema.Record(Schema.String, textOrPlace))

/** The secrets of a page as a policy has them. */
const policySecrets = {
  headers: placedHeaders,
  auth: Schema.optionalKey(
    Schema.Struct({
      bearer: Schema.optionalKey(secretPlace),
      basic: Schema.optionalKey(Schema.Struct({ user: textOrPlace, password: secretPlace })),
    }),
  ),
  body,
}

export const WatchTrial = Schema.Struct({
  status: CheckStatus,
  output: Schema.String.annotate({
    description: "The status and the time, in words; of the answer's body, only the wanted text.",
  }),
  duration_ms: NonNegativeInteger.annotate({ description: "How long the probe took, in milliseconds." }),
}).annotate(named("WatchTrial", "The result of a probe that nothing stores."))
export type WatchTrial = typeof WatchTrial.Type

const times = bounded({ min: 1, max: 10 })

const Confirm = closedStruct({
  bad: optional(times, "How many results in a row must not be ok: 2 unless given."),
  good: optional(times, "How many results in a row must be ok: 1 unless given."),
}).annotate(named("WatchConfirm", "When a status counts."))

const Every = DurationText(TIMES.every)

const title = optional(Title, "What people call it, and its check.")

const settings = {
  every: optional(Every, "The time from one probe to the next: 1m unless given."),
  confirm: optional(Confirm, "When a status counts."),
  ...placeFields,
  labels: optional(CheckLabels, "Labels of its check. One whose key looks like a secret is dropped."),
  ...probes,
}

/** The usual time from one probe to the next, in milliseconds. */
export const USUAL_EVERY_MILLIS = 60_000

/** The usual numbers of results that make a status count. */
export const USUAL_CONFIRM = { bad: 2, good: 1 } as const

export const MOST_WATCHES = 1_000

/** Names a watch, and its check. */
const WatchName = CheckId

export const CreateWatchRequest = closedStruct({
  name: optional(WatchName, "Made of the title unless given."),
  title,
  ...settings,
}).annotate(named("CreateWatchRequest", "A new watch, with exactly one probe."))
export type CreateWatchRequest = typeof CreateWatchRequest.Type

/** The body of POST watches/try (docs/rules.md#watches). */
export const TryWatchRequest = closedStruct({
  name: optional(WatchName, "Any name: a trial has none."),
  title,
  ...settings,
}).annotate(named("TryWatchRequest", "A watch as it would be created, or its probe alone."))
export type TryWatchRequest = typeof TryWatchRequest.Type

/** A watch that a policy defines. Its passwords and tokens stay outside the policy. */
export const PolicyWatch = Schema.Struct({
  name: WatchName,
  title,
  ...settings,
  http: Schema.optionalKey(Schema.Struct({ ...httpFields, ...policySecrets })),
  websocket: Schema.optionalKey(Schema.Struct({ ...socketFields, headers: placedHeaders })),
})
export type PolicyWatch = typeof PolicyWatch.Type

export const ChangeWatchRequest = closedStruct({
  title: changedTitle,
  ...settings,
  is_paused: optional(Schema.Boolean, "Whether to probe no more until false is sent."),
}).annotate(
  named(
    "ChangeWatchRequest",
    "Absent fields stay as they are. A probe replaces the former one. One without headers, auth and body keeps the former ones while the scheme, host and port of its url stay.",
  ),
)
export type ChangeWatchRequest = typeof ChangeWatchRequest.Type

export const PauseWatchRequest = closedStruct({
  for: described(
    DurationText({ min: "0 seconds", max: "1 day" }),
    "For how long to probe no more; 0s ends a pause.",
  ),
}).annotate(named("PauseWatchRequest", "How long a pause lasts."))
export type PauseWatchRequest = typeof PauseWatchRequest.Type

/** A watch as an agent asks for it: as it is written (docs/rules.md#places). */
const AskedWatch = Schema.toEncoded(
  Schema.Struct({
    name: WatchName,
    every: Every,
    confirm: Schema.Struct({ bad: times, good: times }),
    ...probes,
    secrets: optional(Schema.Array(Schema.String), "The names of its secrets; absent if it has none."),
  }),
).annotate(named("PlaceWatch", "A watch that an agent is to probe."))
export type AskedWatch = typeof AskedWatch.Type

export const AskedWatches = Schema.Struct({ items: Schema.Array(AskedWatch) }).annotate(
  named("PlaceWatches", "The watches that an agent is to probe."),
)

/** A watch as it is shown: without its secrets. */
export const Watch = Schema.Struct({
  name: WatchName,
  title: ShownTitle,
  every: Schema.toEncoded(Every),
  confirm: Schema.Struct({ bad: times, good: times }),
  from: Schema.Array(AgentId).annotateKey({ description: "The places that probe it." }),
  fails: described(Fails, "How many places must have a status, so that the watch has it."),
  labels: Schema.Record(Schema.String, Schema.String).annotateKey({ description: "Labels of its check." }),
  places: optional(Schema.Array(WatchPlace), "Its places; absent in lists."),
  here: optional(
    Schema.Array(PlaceStatus),
    "The confirmed statuses of the place here in the last day, the oldest first; absent in lists, and unless it is one of several places.",
  ),
  http: optional(Schema.toEncoded(Schema.Struct(httpFields)), "Asks for a page. Its secrets are not shown."),
  tcp: optional(Schema.toEncoded(TcpWatch), "Connects to a port."),
  tls: optional(Schema.toEncoded(TlsWatch), "Examines the certificate of a server."),
  dns: optional(Schema.toEncoded(DnsWatch), "Resolves a name."),
  ping: optional(Schema.toEncoded(PingWatch), "Sends packets to a host."),
  websocket: optional(
    Schema.toEncoded(Schema.Struct(socketFields)),
    "Opens a WebSocket. Its secrets are not shown.",
  ),
  secrets: optional(
    Schema.Array(Schema.String),
    "The names of its secrets, such as headers.x-key, auth and body; absent if it has none.",
  ),
  is_of_policy: Schema.Boolean.annotateKey({
    description: "Whether the policy defines it: then only the policy changes or removes it.",
  }),
  is_paused: Schema.Boolean,
  paused_until: Schema.NullOr(InstantFromString).annotateKey({
    description: "When its pause ends; null without one, and for one that lasts until it is ended.",
  }),
  status: described(Schema.NullOr(CheckStatus), "The status that counts; null before the first one."),
  last: Schema.NullOr(
    Schema.Struct({ at: InstantFromString, status: CheckStatus, output: Schema.String }).annotate(
      named("WatchProbe", "The result of the latest probe."),
    ),
  ).annotateKey({ description: "The latest probe, whether its status counts or not." }),
  unconfirmed: described(NonNegativeInteger, "How many results in a row contradict the status that counts."),
  next_probe_at: InstantFromString,
  created_at: InstantFromString,
  created_by: Schema.String.annotateKey({ description: "The operator who created it." }),
}).annotate(named("Watch", "A probe that the service repeats."))
export type Watch = typeof Watch.Type

export const WatchPath = Schema.Struct({
  name: WatchName.annotateKey({ description: "The name of a watch." }),
})

/** Its columns as CSV: see `csvText`. */
export const watchColumns =
  "name every confirm from fails labels http tcp tls dns ping websocket secrets is_of_policy is_paused paused_until status last unconfirmed next_probe_at created_at created_by title"

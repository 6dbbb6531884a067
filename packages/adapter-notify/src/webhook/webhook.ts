import { Acknowledgement } from "@tocsin/contract/acknowledgements/Acknowledgements"
import { timestamp } from "@tocsin/contract/formats/Fields"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { FiringCause, NotificationType, Severity } from "@tocsin/contract/formats/Status"
import { whyText } from "@tocsin/core/heart/notifications/whyText"
import { ResolutionReason } from "@tocsin/contract/incidents/Resolution"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import type { DeliveryAttempt, Notifier, TestReceipt } from "@tocsin/core/heart/notifications/Notifiers"
import { Effect, Redacted, Result, Schema, type Scope } from "effect"
import { createHmac, createSecretKey, type KeyObject } from "node:crypto"
import { cutText, plain } from "@tocsin/core/heart/notifications/cutText"
import { MOST_OUTPUT } from "@tocsin/core/heart/notifications/messageDetails"
import { BadNotifierSetting, makeHttpPost, type PostingOptions } from "../http/HttpPost.ts"
import {
  checkIdOf,
  incidentText,
  type NotifiedIncident,
  testText,
} from "@tocsin/core/heart/notifications/incidentText"
import { shownResolution } from "@tocsin/core/heart/notifications/resolutionText"

/** The key of one secret, prepared once: preparing its bytes takes three times as long as a signature. */
type SigningKey = Redacted.Redacted<KeyObject>

const PREFIX = "whsec_"
/** Required by Standard Webhooks: one message suffices to guess a shorter key. */
const KEY_BYTES = { least: 24, most: 64 }
/**
 * Reads secrets of Standard Webhooks: base64 with or without `whsec_`. Strict, because a lenient
 * reading could differ from the receiver's. A failure completes "… must …" without a secret.
 */
export const parseSecrets = (
  secrets: ReadonlyArray<Redacted.Redacted>,
): Result.Result<ReadonlyArray<SigningKey>, string> => {
  const keys = secrets.map((secret) => keyOf(Redacted.value(secret)))
  const valid = keys.filter((key) => key !== undefined)
  if (keys.length === 0) return Result.fail("must contain at least one secret: whsec_ followed by base64")
  const bad = keys.indexOf(undefined) + 1
  const which = keys.length === 1 ? "" : `, which number ${bad} of ${keys.length} is not`
  return bad === 0
    ? Result.succeed(valid)
    : Result.fail(
        `must be whsec_ followed by 24 to 64 bytes in base64 (padded, as printed by openssl rand -base64 32)${which}`,
      )
}

const keyOf = (secret: string): SigningKey | undefined => {
  const base64 = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  const key = Buffer.from(base64, "base64")
  const isLongEnough = key.length >= KEY_BYTES.least && key.length <= KEY_BYTES.most
  return isLongEnough && key.toString("base64") === base64 ? Redacted.make(createSecretKey(key)) : undefined
}

/** The signature headers of Standard Webhooks, with a `v1` signature for each key in order. */
export const signatureHeaders = (
  keys: ReadonlyArray<SigningKey>,
  message: { readonly id: string; readonly at: Instant.Instant; readonly body: string },
) => {
  const seconds = (message.at / MICROS_PER_SECOND).toString()
  const signed = `${message.id}.${seconds}.${message.body}`
  const signatureOf = (key: SigningKey) =>
    `v1,${createHmac("sha256", Redacted.value(key)).update(signed).digest("base64")}`
  return {
    "webhook-id": message.id,
    "webhook-timestamp": seconds,
    "webhook-signature": keys.map(signatureOf).join(" "),
  }
}

/** Grows with an incompatible change; a new field is compatible. */
const version = Schema.Literal(1)

const text = Schema.String.annotate({ description: "The message for people: several lines of plain text." })

const WebhookIncident = Schema.Struct({
  id: Schema.String,
  incident_key: Schema.String,
  agent_id: Schema.optionalKey(Schema.String).annotateKey({
    description: "The agent of the only member; absent with several.",
  }),
  check_id: Schema.optionalKey(Schema.String).annotateKey({
    description: "The check of the only member; absent with several, and for a heartbeat incident.",
  }),
  opened_by: Schema.Struct({
    agent_id: Schema.String,
    check_id: Schema.optionalKey(Schema.String),
  }).annotate({ description: "The opener of the incident; it never changes." }),
  opened_at: timestamp("When its first member turned not ok."),
  resolved_at: Schema.optionalKey(timestamp("When no member was left; absent while it is open.")),
  members: Schema.Int.annotate({ description: "How many checks are in the incident now." }),
})

/** The message about an incident. IDs and keys are those of the v1 API. */
export const IncidentMessage = Schema.Struct({
  type: Schema.TemplateLiteral(["incident.", NotificationType]),
  version,
  timestamp: timestamp("When the notification was made; the same for every attempt."),
  data: Schema.Struct({
    id: Schema.String.annotate({
      description: "ID of the outbox item, also in webhook-id: deduplicate by it.",
    }),
    severity: Severity,
    summary: Schema.optionalKey(
      Schema.String.annotate({
        description: "First line of the worst check's output, at most 512 characters.",
      }),
    ),
    title: Schema.optionalKey(Schema.String.annotate({ description: "The title of its check." })),
    text,
    receiver: Schema.String.annotate({ description: "The receiver's name; its kind without a policy." }),
    cause: Schema.optionalKey(FiringCause),
    why: Schema.optionalKey(
      Schema.String.annotate({
        description: "Why it comes, as the text begins; absent if its incident just opened.",
      }),
    ),
    resolution: Schema.optionalKey(
      Schema.Struct({
        reason: ResolutionReason,
        by: Schema.optionalKey(Schema.String),
      }).annotate({
        description: "How it ended, and who deleted or resolved it; only with `incident.resolved`.",
      }),
    ),
    firing_for_seconds: Schema.Int.annotate({
      description: "How long the incident had been open when this became due; until it resolved, if it has.",
    }),
    acknowledgement: Schema.optionalKey(
      Acknowledgement.annotate({
        description:
          "The operator who takes care of the incident, and until when. Absent without one, and once it resolved.",
      }),
    ),
    incident: WebhookIncident,
    runbook: Schema.optionalKey(
      Schema.Struct({ url: Schema.String, note: Schema.optionalKey(Schema.String) }).annotate({
        description: "What to read about the worst check; absent with `incident.resolved`.",
      }),
    ),
    details: Schema.optionalKey(
      Schema.Struct({
        labels: Schema.Record(Schema.String, Schema.String),
        output: Schema.optionalKey(Schema.String),
        output_is_end: Schema.optionalKey(Schema.Literal(true)),
        source: Schema.optionalKey(Schema.String),
        since: timestamp("Since when the check has its status, or is late with its severity."),
        duration_seconds: Schema.optionalKey(Schema.Number),
      }).annotate({
        description:
          "The worst check of the incident: absent for a silent agent, with `incident.resolved`, and where switched off.",
      }),
    ),
    links: Schema.optionalKey(
      Schema.Struct({
        incident: Schema.String.annotate({ description: "The incident in the console." }),
        acknowledge: Schema.optionalKey(
          Schema.String.annotate({
            description: "A page that acknowledges the incident at `severity`; also by a POST.",
          }),
        ),
      }),
    ),
  }),
})
export type IncidentMessage = typeof IncidentMessage.Type

const TestMessage = Schema.Struct({
  type: Schema.Literal("test"),
  version,
  timestamp: timestamp("When the test was made."),
  data: Schema.Struct({ id: Schema.String, text }),
})

/** The body of a webhook, version 1, as Standard Webhooks recommends (docs/rules.md#notifiers). */
export const WebhookMessage = Schema.Union([IncidentMessage, TestMessage])
export type WebhookMessage = typeof WebhookMessage.Type

const UNLIMITED = { limit: Number.MAX_SAFE_INTEGER, escape: plain, hasDetails: true } as const

/** The body of a notification. Attempts differ only if the incident has changed. */
export const incidentMessage = (notification: DeliveryAttempt): IncidentMessage => {
  const why = whyText(notification)
  return {
    type: `incident.${notification.event_type}`,
    version: 1,
    timestamp: notification.created_at,
    data: {
      id: notification.id,
      severity: notification.severity,
      ...(notification.summary !== undefined && { summary: notification.summary }),
      ...(notification.title !== undefined && { title: notification.title }),
      text: incidentText(notification, UNLIMITED),
      receiver: notification.receiver,
      ...(notification.cause !== undefined && { cause: notification.cause }),
      ...(why !== undefined && { why }),
      ...(notification.event_type === "resolved" &&
        notification.incident.resolution !== undefined && {
          resolution: shownResolution(notification.incident.resolution),
        }),
      firing_for_seconds: secondsOf(notification),
      ...acknowledgedBy(notification),
      incident: incidentOf(notification.incident),
      ...(notification.runbook !== undefined && { runbook: notification.runbook }),
      ...detailsOf(notification),
      ...linksOf(notification),
    },
  }
}

const MICROS_PER_SECOND = 1_000_000n

/** To the second as in `text`. Never negative: a clock may have been set back since the incident opened. */
const secondsOf = ({ age_starts_at, event_type, incident }: DeliveryAttempt): number => {
  const until = event_type === "resolved" ? (incident.resolved_at ?? age_starts_at) : age_starts_at
  return Math.max(0, Number(until / MICROS_PER_SECOND - incident.opened_at / MICROS_PER_SECOND))
}

const detailsOf = ({ details }: DeliveryAttempt) => {
  if (details === undefined) return {}
  const { duration_seconds, isJob, labels, since, source } = details
  const output = cutText(details.output, { limit: MOST_OUTPUT, escape: plain, isEnd: isJob })
  return {
    details: {
      labels,
      ...(output !== "" && { output, ...(isJob && { output_is_end: true as const }) }),
      ...(source !== undefined && { source }),
      since,
      ...(duration_seconds !== undefined && { duration_seconds }),
    },
  }
}

const linksOf = ({ links }: DeliveryAttempt) => {
  if (links === undefined) return {}
  const { acknowledge, incident } = links
  return { links: { incident, ...(acknowledge !== undefined && { acknowledge: acknowledge.url }) } }
}

const acknowledgedBy = ({ acknowledgement }: DeliveryAttempt) => {
  if (acknowledgement === undefined) return {}
  const { note, ...rest } = acknowledgement
  return { acknowledgement: { ...rest, ...(note !== undefined && { note }) } }
}

const incidentOf = (incident: NotifiedIncident): IncidentMessage["data"]["incident"] => ({
  id: incident.id,
  incident_key: incident.incident_key,
  ...placeOf(incident.agent_id, incident.check_id),
  opened_by: { agent_id: incident.opener_agent_id, ...placeOf(undefined, incident.opener_check_id) },
  opened_at: incident.opened_at,
  ...(incident.resolved_at !== undefined && { resolved_at: incident.resolved_at }),
  members: incident.members,
})

const placeOf = (agent_id: AgentId | undefined, checkId: CheckId | undefined) => {
  const check_id = checkIdOf(checkId)
  return { ...(agent_id !== undefined && { agent_id }), ...(check_id !== undefined && { check_id }) }
}

const encode = Schema.encodeSync(Schema.fromJsonString(WebhookMessage))

/** Posts a {@link WebhookMessage}, signed as Standard Webhooks (docs/rules.md#notifiers). */
export const webhook = Effect.fnUntraced(function* (
  options: PostingOptions & {
    readonly url: Redacted.Redacted
    /** At least one `whsec_` and base64; several during a rotation (docs/rules.md#notifiers). */
    readonly secrets: ReadonlyArray<Redacted.Redacted>
  },
): Effect.fn.Return<Notifier, BadNotifierSetting, Scope.Scope | Ids> {
  const ids = yield* Ids
  const keys = yield* Effect.fromResult(parseSecrets(options.secrets)).pipe(
    Effect.mapError((message) => new BadNotifierSetting({ setting: "secrets", message })),
  )
  const post = yield* makeHttpPost({ ...options, address: options.url })
  const deliver = Effect.fnUntraced(function* (message: WebhookMessage): Effect.fn.Return<TestReceipt> {
    const body = encode(message)
    const at = yield* Instant.now
    return yield* post(body, { headers: signatureHeaders(keys, { id: message.data.id, at, body }) })
  })
  return {
    kind: "webhook",
    takesDetails: true,
    send: (notification) => Effect.map(deliver(incidentMessage(notification)), ({ result }) => result),
    test: Effect.flatMap(Instant.now, (now) =>
      deliver({ type: "test", version: 1, timestamp: now, data: { id: ids.uuidV7(now), text: testText() } }),
    ),
  }
})

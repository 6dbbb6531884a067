import { Ajv2020 } from "ajv/dist/2020.js"
import type { JsonSchema } from "../../openapi/OpenApi.ts"

const text = (pattern: string): JsonSchema => ({ type: "string", pattern })
const upTo = (maxLength: number): JsonSchema => ({ type: "string", maxLength })
const oneOf = (...values: ReadonlyArray<string>): JsonSchema => ({ type: "string", enum: values })
const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: "null" }] })

/** An object with these fields and no other. */
const object = (
  required: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema => ({
  type: "object",
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
})

const page = (items: JsonSchema): JsonSchema =>
  object({ items: { type: "array", items } }, { next_cursor: cursor, prev_cursor: cursor })

const name = text("^[A-Za-z0-9._:-]{1,128}$")
const time = text("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.(?:\\d{3}|\\d{3}(?!000)\\d{3})Z$")
const uuidV7 = text("^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
const fingerprint = text("^[0-9a-f]{16}$")
const flag: JsonSchema = { type: "boolean" }
const integer: JsonSchema = {
  type: "integer",
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
}
const count: JsonSchema = { ...integer, minimum: 0 }
const checkStatus = oneOf("ok", "warning", "critical", "unknown")
const cursor = orNull(text("^[A-Za-z0-9_-]{1,512}$"))

const features = object({ push: flag, metrics: flag })

export const agent = object(
  {
    agent_id: name,
    hostname: upTo(253),
    status: oneOf("alive", "stale", "dead"),
    admission_state: oneOf("pending", "accepted"),
    last_seen_at: time,
    features,
  },
  {
    rotation_pending: flag,
    key_fingerprint: orNull(fingerprint),
    labels: { type: "object", additionalProperties: upTo(256) },
  },
)
export const agentPage = page(agent)
export const blacklistPage = page(
  object({
    id: text("^[0-9a-f]{64}$"),
    key_fingerprint: fingerprint,
    agent_id: name,
    hostname: upTo(253),
    created_at: time,
    last_seen_at: time,
  }),
)
export const checkPage = page(
  object(
    { agent_id: name, check_id: name, status: checkStatus, last_observed_at: time },
    { exit_code: integer, incident_key: upTo(256), summary: upTo(8192) },
  ),
)
export const incidentPage = page(
  object(
    {
      id: uuidV7,
      incident_key: upTo(256),
      state: oneOf("open", "resolved"),
      severity: oneOf("warning", "critical", "unknown"),
      opened_at: time,
    },
    { agent_id: name, check_id: name, resolved_at: orNull(time), summary: upTo(512) },
  ),
)
export const historyPage = page(
  object(
    {
      agent_id: name,
      received_at: time,
      event_id: uuidV7,
      check_id: name,
      observed_at: time,
      status: checkStatus,
      exit_code: integer,
      duration_ms: count,
      // Answers carry their defaults (docs/rules.md#numbers-and-text).
      output_truncated: flag,
      notifications_enabled: flag,
    },
    { output: upTo(8192), incident_key: upTo(256) },
  ),
)
export const outboxPage = page(
  object(
    {
      id: uuidV7,
      notifier: oneOf("debug", "messenger", "webhook", "alert_router"),
      state: oneOf("pending", "sending", "sent", "retry", "failed", "discarded"),
      incident_id: uuidV7,
      event_type: oneOf("firing", "resolved"),
      attempts: count,
    },
    { next_attempt_at: orNull(time), last_error: orNull(upTo(1_000)), updated_at: time },
  ),
)
export const summary = object({
  agents_online: count,
  agents_offline: count,
  checks_ok: count,
  checks_warning: count,
  checks_critical: count,
  checks_unknown: count,
  open_incidents: count,
  generated_at: time,
})
export const health = object({ status: oneOf("ok") })
export const accepted = object({ accepted: flag })
export const batchAccepted = object({ accepted: count, deduplicated: count })
export const actionCount = object({ count })

/** The body of every error (docs/rules.md#errors). */
export const failure = object({
  error: object({
    code: oneOf(
      "unauthorized",
      "forbidden",
      "conflict",
      "agent_blocked",
      "agent_not_accepted",
      "not_found",
      "validation",
      "payload_too_large",
      "rate_limited",
      "internal",
      "not_ready",
    ),
    message: upTo(1_000),
    request_id: name,
  }),
})

const ajv = new Ajv2020({ allErrors: true })

/** The differences between a body and a shape; empty if it matches. */
export const problemsOf = (shape: JsonSchema, body: unknown): ReadonlyArray<string> => {
  // Ajv compiles each schema once.
  const validate = ajv.compile(shape)
  if (validate(body)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `body${instancePath} ${message}`)
}

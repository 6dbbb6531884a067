/** What may stand at one place of a body: says all that is wrong with what does. */
export type Shape = (value: unknown, at: string) => ReadonlyArray<string>

/** What is wrong with a body. */
export const problemsOf = (shape: Shape, body: unknown): ReadonlyArray<string> => shape(body, "body")

const rule =
  (holds: (value: unknown) => boolean, expected: string): Shape =>
  (value, at) =>
    holds(value) ? [] : [`${at} is ${JSON.stringify(value)?.slice(0, 100)}, not ${expected}`]

const text = (pattern: RegExp, expected: string): Shape =>
  rule((value) => typeof value === "string" && pattern.test(value), expected)

const oneOf = (...values: ReadonlyArray<string>): Shape =>
  rule((value) => values.some((allowed) => allowed === value), `one of ${values.join(", ")}`)

const orNull =
  (shape: Shape): Shape =>
  (value, at) =>
    value === null ? [] : shape(value, at)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** An object of these fields and no other. */
const object =
  (required: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>> = {}): Shape =>
  (value, at) => {
    if (!isObject(value)) return [`${at} is no object`]
    const shapes = new Map([...Object.entries(required), ...Object.entries(optional)])
    return [
      ...Object.keys(required).flatMap((name) =>
        Object.hasOwn(value, name) ? [] : [`${at}.${name} is missing`],
      ),
      ...Object.entries(value).flatMap(
        ([name, field]) =>
          shapes.get(name)?.(field, `${at}.${name}`) ?? [`${at}.${name} is not in the contract`],
      ),
    ]
  }

const list =
  (item: Shape): Shape =>
  (value, at) =>
    Array.isArray(value)
      ? value.flatMap((element, index) => item(element, `${at}[${index}]`))
      : [`${at} is no array`]

const mapOf =
  (entry: Shape): Shape =>
  (value, at) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, field]) => entry(field, `${at}.${name}`))
      : [`${at} is no object`]

const name = text(/^[A-Za-z0-9._:-]{1,128}$/, "an id")
const time = text(
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?:\d{3}|\d{3}(?!000)\d{3})Z$/,
  "a time (docs/rules.md#ids)",
)
const uuidV7 = text(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, "a UUIDv7")
const fingerprint = text(/^[0-9a-f]{16}$/, "a fingerprint")
const upTo = (max: number): Shape =>
  text(new RegExp(`^[^]{0,${max}}$`, "u"), `a text of at most ${max} characters`)
const flag = rule((value) => typeof value === "boolean", "true or false")
const integer = rule(Number.isSafeInteger, "an integer")
const count = rule((value) => Number.isSafeInteger(value) && Number(value) >= 0, "a count")
const checkStatus = oneOf("ok", "warning", "critical", "unknown")
const cursor = orNull(text(/^[A-Za-z0-9_-]{1,512}$/, "a cursor"))

const page = (item: Shape): Shape =>
  object({ items: list(item) }, { next_cursor: cursor, prev_cursor: cursor })

const features = object({ push: flag, metrics: flag })

export const agent: Shape = object(
  {
    agent_id: name,
    hostname: upTo(253),
    status: oneOf("alive", "stale", "dead"),
    admission_state: oneOf("pending", "accepted"),
    last_seen_at: time,
    features,
  },
  { rotation_pending: flag, key_fingerprint: orNull(fingerprint), labels: mapOf(upTo(256)) },
)
export const agentPage = page(agent)
export const blacklistPage = page(
  object({
    id: text(/^[0-9a-f]{64}$/, "a blacklist id"),
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
      // Their defaults are filled in (docs/rules.md#ids).
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

/** The body of every error (docs/rules.md#order-of-checks). */
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
    request_id: text(/^[A-Za-z0-9._:-]{1,128}$/, "a request id"),
  }),
})

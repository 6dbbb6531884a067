import { Predicate, Result, type Schema, SchemaParser } from "effect"
import { ValidationError } from "../formats/Errors.ts"
import { EnrolRequest } from "../enrolment/Enrolments.ts"
import { DECLARATION_SIZE_RULE, ExpectationsRequest, MAX_EXPECTATIONS } from "../overdue/Expectations.ts"
import { isNonNegativeInteger } from "../formats/Fields.ts"
import { isAgentId, isCheckId, isEventId, isIncidentKey } from "../formats/Identifiers.ts"
import * as Instant from "../formats/Instant.ts"
import { isLabels, MAX_LABELS, TOO_MANY_LABELS } from "../labels/Labels.ts"
import {
  type AgentFeatures,
  BATCH_SIZE_RULE,
  type CheckResultEvent,
  EventBatchRequest,
  HeartbeatRequest,
  MAX_EVENTS,
} from "./Requests.ts"
import { isCheckStatus } from "../formats/Status.ts"
import { cleanOutput, isShortOutput } from "../formats/outputText.ts"
import { isHostname } from "../formats/Text.ts"
import { describeIssue } from "../formats/describeIssue.ts"

type Unknown<Fields> = { readonly [Name in keyof Fields]?: unknown }

const REQUIRED_FIELDS = 4
const FIELDS_OF_FEATURES = 2

const readFeatures = (value: unknown): AgentFeatures | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const { push, metrics }: Unknown<AgentFeatures> = value
  if (typeof push !== "boolean" || typeof metrics !== "boolean") return undefined
  return Object.keys(value).length === FIELDS_OF_FEATURES ? { push, metrics } : undefined
}

/**
 * Decodes the body of POST /api/v1/heartbeat like its schema, in a fraction of the time.
 * `undefined` for a body that does not fit; the schema then says why.
 */
export const readHeartbeat = (body: unknown): HeartbeatRequest | undefined => {
  if (typeof body !== "object" || body === null) return undefined
  const { agent_id, observed_at: time, hostname, features: said, labels }: Unknown<HeartbeatRequest> = body
  const observed_at = typeof time === "string" ? Instant.parse(time) : undefined
  const features = readFeatures(said)
  if (!isAgentId(agent_id) || !isHostname(hostname)) return undefined
  if (observed_at === undefined || features === undefined) return undefined
  const fields = Object.keys(body).length
  if (labels === undefined) {
    return fields === REQUIRED_FIELDS ? { agent_id, observed_at, hostname, features } : undefined
  }
  return fields === REQUIRED_FIELDS + 1 && isLabels(labels)
    ? { agent_id, observed_at, hostname, features, labels }
    : undefined
}

type Writable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] }

const FIELDS_OF_BATCH = 2
const REQUIRED_FIELDS_OF_EVENT = 6

const isSeveral = (value: unknown): value is ReadonlyArray<unknown> =>
  Array.isArray(value) && value.length >= 1 && value.length <= MAX_EVENTS

/** A time as its sender wrote it. Results that ran together often have the same. */
interface WrittenTime {
  readonly text: string
  readonly at: Instant.Instant
}

const readTime = (text: unknown, before: WrittenTime | undefined): WrittenTime | undefined => {
  if (typeof text !== "string") return undefined
  if (text === before?.text) return before
  const at = Instant.parse(text)
  return at === undefined ? undefined : { text, at }
}

const readEvent = (wire: unknown, observed_at: Instant.Instant): CheckResultEvent | undefined => {
  if (typeof wire !== "object" || wire === null) return undefined
  const fields: Unknown<CheckResultEvent> = wire
  const { event_id, check_id, status, exit_code, duration_ms } = fields
  if (!isEventId(event_id) || !isCheckId(check_id)) return undefined
  if (!isCheckStatus(status) || !isNonNegativeInteger(duration_ms)) return undefined
  if (typeof exit_code !== "number" || !Number.isSafeInteger(exit_code)) return undefined
  const { output, output_truncated = false, notifications_enabled = true } = fields
  if (typeof output_truncated !== "boolean" || typeof notifications_enabled !== "boolean") return undefined
  const event: Writable<CheckResultEvent> = {
    event_id,
    check_id,
    observed_at,
    status,
    exit_code,
    duration_ms,
    output_truncated,
    notifications_enabled,
    // Most results have one: added later, it would give their objects another shape than this.
    output: "",
  }
  if (output === undefined) delete event.output
  return readOptional(fields, event)
}

/** How many fields an object has: unlike a list of their names, the count allocates nothing for each event. */
const countFields = (fields: object): number => {
  let count = 0
  for (const name in fields) if (Object.hasOwn(fields, name)) count += 1
  return count
}

/** Reads the optional fields of an event, and refuses unknown ones. */
const readOptional = (
  fields: Unknown<CheckResultEvent>,
  event: Writable<CheckResultEvent>,
): CheckResultEvent | undefined => {
  const { output, incident_key } = fields
  let known = REQUIRED_FIELDS_OF_EVENT
  if (fields.output_truncated !== undefined) known += 1
  if (fields.notifications_enabled !== undefined) known += 1
  if (output !== undefined) {
    if (typeof output !== "string" || !isShortOutput(output)) return undefined
    event.output = cleanOutput(output)
    known += 1
  }
  if (incident_key !== undefined) {
    if (!isIncidentKey(incident_key)) return undefined
    event.incident_key = incident_key
    known += 1
  }
  return countFields(fields) === known ? event : undefined
}

/**
 * Decodes the body of POST /api/v1/events like its schema, in a sixth of the time, because events
 * are most of the load. `undefined` for a body that does not fit; the schema then says why.
 */
export const readEventBatch = (body: unknown): EventBatchRequest | undefined => {
  if (typeof body !== "object" || body === null) return undefined
  const { agent_id, events: wires }: Unknown<EventBatchRequest> = body
  if (!isAgentId(agent_id) || !isSeveral(wires) || Object.keys(body).length !== FIELDS_OF_BATCH)
    return undefined
  const events: Array<CheckResultEvent> = []
  let time: WrittenTime | undefined
  for (const wire of wires) {
    time = readTime(Predicate.hasProperty(wire, "observed_at") ? wire.observed_at : undefined, time)
    const event = time && readEvent(wire, time.at)
    if (event === undefined) return undefined
    events.push(event)
  }
  return { agent_id, events }
}

/** The fields of bodies whose entries are counted before they are read, and the refusal of more. */
export const sizeRules = {
  events: { most: MAX_EVENTS, message: `events ${BATCH_SIZE_RULE}` },
  labels: { most: MAX_LABELS, message: `labels ${TOO_MANY_LABELS}` },
  checks: { most: MAX_EXPECTATIONS, message: `checks ${DECLARATION_SIZE_RULE}` },
}

const decodeBody = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = SchemaParser.decodeUnknownResult(schema)
  return (body: unknown): Result.Result<S["Type"], ValidationError> =>
    Result.mapError(
      decode(body),
      (issue) => new ValidationError({ message: describeIssue(issue, "the request body") }),
    )
}

/**
 * A schema decodes all elements before it counts them. Counting first makes a body of a megabyte of
 * labels or events cost little more than its JSON.
 */
const decodeCounted = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  field: keyof typeof sizeRules,
  isCountable: (entries: unknown) => entries is object,
) => {
  const decode = decodeBody(schema)
  const { message, most } = sizeRules[field]
  return (body: unknown): Result.Result<S["Type"], ValidationError> => {
    const entries = Predicate.hasProperty(body, field) ? body[field] : undefined
    return isCountable(entries) && Object.keys(entries).length > most
      ? Result.fail(new ValidationError({ message }))
      : decode(body)
  }
}

const decodeHeartbeat = decodeCounted(HeartbeatRequest, "labels", Predicate.isObject)
const decodeEventBatch = decodeCounted(EventBatchRequest, "events", Array.isArray)

export const decodeHeartbeatRequest = (body: unknown): Result.Result<HeartbeatRequest, ValidationError> => {
  const heartbeat = readHeartbeat(body)
  return heartbeat === undefined ? decodeHeartbeat(body) : Result.succeed(heartbeat)
}

export const decodeEventBatchRequest = (body: unknown): Result.Result<EventBatchRequest, ValidationError> => {
  const batch = readEventBatch(body)
  return batch === undefined ? decodeEventBatch(body) : Result.succeed(batch)
}

export const decodeExpectationsRequest = decodeCounted(ExpectationsRequest, "checks", Array.isArray)

export const decodeEnrolRequest = decodeBody(EnrolRequest)

/**
 * More values than the largest declaration has, 7,002, so a body with more cannot fit the contract.
 * JSON.parse takes 3 ms for this many, and up to 100 ms for as many as 1 MiB can contain.
 */
export const MAX_VALUES = 8_000

/** More values than alerts of 1 MiB have, which take twenty bytes each and more. */
export const MAX_SENDER_VALUES = 50_000

/** A value and the separator before the next one. */
const LEAST_BYTES_OF_VALUE = 2

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** The index of the closing quote of the string that begins at `start`, or beyond the end of the text. */
const endOfString = (json: Uint8Array, start: number): number => {
  let at = start + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}

/** The field of the body in which the count ran over. */
interface Overflow {
  readonly keyStart: number
  readonly keyEnd: number
  readonly entries: number
}

/** Reads until the count exceeds `most`; `undefined` if it does not. */
const findOverflow = (json: Uint8Array, most: number): Overflow | undefined => {
  if (json.length < LEAST_BYTES_OF_VALUE * most) return undefined
  let values = 0
  let depth = 0
  let isKeyNext = false
  let keyStart = 0
  let keyEnd = 0
  let entries = 0
  for (let at = 0; at < json.length && values <= most; at++) {
    switch (json[at]) {
      case QUOTE: {
        const end = endOfString(json, at)
        if (isKeyNext) {
          keyStart = at + 1
          keyEnd = end
          entries = 0
          isKeyNext = false
        }
        at = end
        break
      }
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values += 1
        depth += 1
        isKeyNext = depth === 1
        if (depth === 2) entries += 1
        break
      case COMMA:
        values += 1
        isKeyNext = depth === 1
        if (depth === 2) entries += 1
        break
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1
        break
    }
  }
  return values > most ? { keyStart, keyEnd, entries } : undefined
}

const isNamed = (json: Uint8Array, { keyStart, keyEnd }: Overflow, name: string): boolean =>
  String.fromCharCode(...json.subarray(keyStart, Math.min(keyEnd, keyStart + name.length + 1))) === name

/**
 * Says why a JSON body contains too many values to be parsed: more than {@link MAX_VALUES} elements
 * and members. It counts them in the bytes, in at most 3 ms. Text that is not JSON may count as
 * anything.
 */
export const overfullBody = (json: Uint8Array): string | undefined => {
  const overflow = findOverflow(json, MAX_VALUES)
  if (overflow === undefined) return undefined
  for (const [field, { message, most }] of Object.entries(sizeRules))
    if (overflow.entries > most && isNamed(json, overflow, field)) return message
  return `the request body must contain at most ${MAX_VALUES} values; send at most 200 events, 32 labels and 1000 checks`
}

/** The same for the body of a sender that does not speak the API. */
export const overfullSenderBody = (json: Uint8Array): string | undefined =>
  findOverflow(json, MAX_SENDER_VALUES) &&
  `the request body must contain at most ${MAX_SENDER_VALUES} values; send fewer alerts in a request`

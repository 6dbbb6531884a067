import { Predicate, Result, type Schema, SchemaParser } from "effect"
import { describeIssue } from "./describeIssue.ts"
import { ValidationError } from "./Errors.ts"
import { DECLARATION_SIZE_RULE, ExpectationsRequest, MAX_EXPECTATIONS } from "./Expectations.ts"
import { MAX_LABELS, TOO_MANY_LABELS } from "./Labels.ts"
import * as Parameters from "./Parameters.ts"
import { readEventBatch, readHeartbeat } from "./readRequests.ts"
import { BATCH_SIZE_RULE, EventBatchRequest, HeartbeatRequest, MAX_EVENTS } from "./Requests.ts"

const refuse = (message: string): Result.Result<never, ValidationError> =>
  Result.fail(new ValidationError({ message }))

const decodeBody = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = SchemaParser.decodeUnknownResult(schema)
  return (body: unknown): Result.Result<S["Type"], ValidationError> =>
    Result.mapError(
      decode(body),
      (issue) => new ValidationError({ message: describeIssue(issue, "the request body") }),
    )
}

// A schema decodes all elements before it counts them. Counting first makes a body of a megabyte of
// labels or events cost little more than its JSON.
const hasTooManyLabels = (body: unknown): boolean =>
  Predicate.hasProperty(body, "labels") &&
  Predicate.isObject(body.labels) &&
  Object.keys(body.labels).length > MAX_LABELS
const hasTooManyEvents = (body: unknown): boolean =>
  Predicate.hasProperty(body, "events") && Array.isArray(body.events) && body.events.length > MAX_EVENTS

/** Raw query parameters; a repeated one is an array. */
export type RawParameters = Readonly<Record<string, string | ReadonlyArray<string>>>

const decodeParameters = <
  S extends Schema.ConstraintDecoder<unknown> & { readonly fields: Schema.Struct.Fields },
>(
  schema: S,
) => {
  const decode = SchemaParser.decodeUnknownResult(schema)
  const names = Object.keys(schema.fields)
  return (raw: RawParameters): Result.Result<S["Type"], ValidationError> => {
    const repeated = names.find((name) => Array.isArray(raw[name]))
    if (repeated !== undefined) {
      return refuse(`${repeated} must be given only once`)
    }
    return Result.mapError(
      decode(raw),
      (issue) => new ValidationError({ message: describeIssue(issue, "the parameters") }),
    )
  }
}

const decodeHeartbeat = decodeBody(HeartbeatRequest)

/** Decodes the parsed JSON body of POST /api/v1/heartbeat. */
export const decodeHeartbeatRequest = (body: unknown): Result.Result<HeartbeatRequest, ValidationError> => {
  const heartbeat = readHeartbeat(body)
  if (heartbeat !== undefined) return Result.succeed(heartbeat)
  return hasTooManyLabels(body) ? refuse(`labels ${TOO_MANY_LABELS}`) : decodeHeartbeat(body)
}

const decodeEventBatch = decodeBody(EventBatchRequest)

/** Decodes the parsed JSON body of POST /api/v1/events. */
export const decodeEventBatchRequest = (body: unknown): Result.Result<EventBatchRequest, ValidationError> => {
  const batch = readEventBatch(body)
  if (batch !== undefined) return Result.succeed(batch)
  return hasTooManyEvents(body) ? refuse(`events ${BATCH_SIZE_RULE}`) : decodeEventBatch(body)
}

const hasTooManyChecks = (body: unknown): boolean =>
  Predicate.hasProperty(body, "checks") && Array.isArray(body.checks) && body.checks.length > MAX_EXPECTATIONS

const decodeExpectations = decodeBody(ExpectationsRequest)

/** Decodes the parsed JSON body of PUT /ops/v1/agents/{agent_id}/expectations. */
export const decodeExpectationsRequest = (
  body: unknown,
): Result.Result<ExpectationsRequest, ValidationError> =>
  hasTooManyChecks(body) ? refuse(`checks ${DECLARATION_SIZE_RULE}`) : decodeExpectations(body)

/** Decodes the path of one agent. */
export const decodeAgentPath = decodeParameters(Parameters.AgentPathParameters)
/** Decodes the path of one blacklist row. */
export const decodeBlacklistPath = decodeParameters(Parameters.BlacklistPathParameters)
/** Decodes the query of GET /api/v1/agents. */
export const decodeAgentListParameters = decodeParameters(Parameters.AgentListParameters)
/** Decodes the query of POST /api/v1/agents/admission/accept-all. */
export const decodeAcceptAllParameters = decodeParameters(Parameters.AcceptAllParameters)
/** Decodes the query of GET /api/v1/agents/admission/blacklist. */
export const decodeBlacklistParameters = decodeParameters(Parameters.BlacklistParameters)
/** Decodes the query of GET /api/v1/checks. */
export const decodeCheckListParameters = decodeParameters(Parameters.CheckListParameters)
/** Decodes the query of GET /api/v1/events/query. */
export const decodeEventListParameters = decodeParameters(Parameters.EventListParameters)
/** Decodes the query of GET /api/v1/incidents. */
export const decodeIncidentListParameters = decodeParameters(Parameters.IncidentListParameters)
/** Decodes the query of GET /api/v1/notifiers/outbox. */
export const decodeOutboxListParameters = decodeParameters(Parameters.OutboxListParameters)

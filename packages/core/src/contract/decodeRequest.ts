import { Predicate, Result, type Schema, SchemaParser } from "effect"
import { describeIssue } from "./describeIssue.ts"
import { ValidationError } from "./Errors.ts"
import { DECLARATION_SIZE_RULE, ExpectationsRequest, MAX_EXPECTATIONS } from "./Expectations.ts"
import { MAX_LABELS, TOO_MANY_LABELS } from "./Labels.ts"
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

import { Predicate, Result, type Schema, SchemaParser } from "effect"
import { describeIssue } from "./describeIssue.ts"
import { ValidationError } from "./Errors.ts"
import { ExpectationsRequest } from "./Expectations.ts"
import { readEventBatch, readHeartbeat } from "./readRequests.ts"
import { EventBatchRequest, HeartbeatRequest } from "./Requests.ts"
import { sizeRules } from "./sizeRules.ts"

/**
 * A schema decodes all elements before it counts them. Counting first makes a body of a megabyte of
 * labels or events cost little more than its JSON.
 */
const decodeCounted = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  field: keyof typeof sizeRules,
  isCountable: (entries: unknown) => entries is object,
) => {
  const decode = SchemaParser.decodeUnknownResult(schema)
  const { message, most } = sizeRules[field]
  return (body: unknown): Result.Result<S["Type"], ValidationError> => {
    const entries = Predicate.hasProperty(body, field) ? body[field] : undefined
    if (isCountable(entries) && Object.keys(entries).length > most)
      return Result.fail(new ValidationError({ message }))
    return Result.mapError(
      decode(body),
      (issue) => new ValidationError({ message: describeIssue(issue, "the request body") }),
    )
  }
}

const decodeHeartbeat = decodeCounted(HeartbeatRequest, "labels", Predicate.isObject)
const decodeEventBatch = decodeCounted(EventBatchRequest, "events", Array.isArray)

/** Decodes the parsed JSON body of POST /api/v1/heartbeat. */
export const decodeHeartbeatRequest = (body: unknown): Result.Result<HeartbeatRequest, ValidationError> => {
  const heartbeat = readHeartbeat(body)
  return heartbeat === undefined ? decodeHeartbeat(body) : Result.succeed(heartbeat)
}

/** Decodes the parsed JSON body of POST /api/v1/events. */
export const decodeEventBatchRequest = (body: unknown): Result.Result<EventBatchRequest, ValidationError> => {
  const batch = readEventBatch(body)
  return batch === undefined ? decodeEventBatch(body) : Result.succeed(batch)
}

/** Decodes the parsed JSON body of PUT /ops/v1/agents/{agent_id}/expectations. */
export const decodeExpectationsRequest = decodeCounted(ExpectationsRequest, "checks", Array.isArray)

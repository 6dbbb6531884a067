import { Result, type Schema, SchemaParser } from "effect"
import { EventBatchRequest } from "./EventBatchRequest.ts"
import { HeartbeatRequest } from "./HeartbeatRequest.ts"
import { describeIssue } from "./describeIssue.ts"
import * as Parameters from "./Parameters.ts"
import { EventBatchWire, readEventBatch } from "./readEventBatch.ts"
import { ValidationError } from "./ValidationError.ts"

const decodeBody = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = SchemaParser.decodeUnknownResult(schema)
  return (body: unknown): Result.Result<S["Type"], ValidationError> =>
    Result.mapError(
      decode(body),
      (issue) => new ValidationError({ message: describeIssue(issue, "the request body") }),
    )
}

/** The parameters of a query as they came: one that was given several times is an array. */
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
      return Result.fail(new ValidationError({ message: `${repeated} must be given only once` }))
    }
    return Result.mapError(
      decode(raw),
      (issue) => new ValidationError({ message: describeIssue(issue, "the parameters") }),
    )
  }
}

/** Decodes the parsed JSON body of POST /api/v1/heartbeat. */
export const decodeHeartbeatRequest = decodeBody(HeartbeatRequest)

const decodeEventBatch = decodeBody(EventBatchRequest)

/** Decodes the parsed JSON body of POST /api/v1/events. */
export const decodeEventBatchRequest = (body: unknown): Result.Result<EventBatchRequest, ValidationError> => {
  const batch = readEventBatch(body)
  return batch === undefined ? decodeEventBatch(body) : Result.succeed(batch)
}

/** Decodes the path of what concerns one agent. */
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

/** The schemas of the hot requests, for an adapter that has a schema compiler: to be handed to it before their first use. */
export const hotRequestSchemas: ReadonlyArray<Schema.Constraint> = [HeartbeatRequest, EventBatchWire]

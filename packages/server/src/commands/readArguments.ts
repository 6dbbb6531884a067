import { describeIssue } from "@tocsin/contract/describeIssue"
import { Effect, Record, Result, type Schema, SchemaParser } from "effect"
import { usageFailure } from "../CommandFailure.ts"

/**
 * Reads arguments as the API reads a body, a path or a query, with its messages. An argument that is
 * not given is absent.
 */
export const readArguments = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  given: Readonly<Record<string, unknown>>,
) =>
  Effect.fromResult(
    Result.mapError(
      SchemaParser.decodeUnknownResult(schema)(Record.filter(given, (value) => value !== undefined)),
      (issue) => usageFailure(describeIssue(issue, "the parameters")),
    ),
  )

import { describeIssue } from "@tocsin/contract/describeIssue"
import { Effect, Result, type Schema, SchemaParser } from "effect"
import { usageFailure } from "../CommandFailure.ts"

/** Reads arguments as the API reads a body, a path or a query, with its messages. */
export const readArguments = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, given: unknown) =>
  Effect.fromResult(
    Result.mapError(SchemaParser.decodeUnknownResult(schema)(given), (issue) =>
      usageFailure(describeIssue(issue, "the parameters")),
    ),
  )

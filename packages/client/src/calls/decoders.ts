import { describeIssue } from "@tocsin/core/contract/describeIssue"
import { Effect, Result, type Schema, SchemaParser } from "effect"
import { type ClientFailure, TocsinClientError } from "../TocsinClientError.ts"

/** Checks what a caller gives and turns it into what the definition wants; refuses it with the service's own words. */
const decoderOf = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, whole: string) => {
  const decode = SchemaParser.decodeUnknownResult(schema)
  return (input: unknown): Effect.Effect<S["Type"], ClientFailure<"validation">> =>
    Effect.suspend(() =>
      Effect.fromResult(
        Result.mapError(
          decode(input),
          (issue) => new TocsinClientError("validation", describeIssue(issue, whole)),
        ),
      ),
    )
}

/** Of the body of a request. */
export const bodyDecoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) =>
  decoderOf(schema, "the request body")

const toText = (value: unknown): unknown =>
  typeof value === "number" || typeof value === "boolean" ? String(value) : value

/** Parameters as they stand in a query or a path: numbers and booleans as text, absent ones left out. */
const asTexts = (parameters: object): object =>
  Object.fromEntries(
    Object.entries(parameters)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, toText(value)]),
  )

/** Of the parameters of a query or a path. */
export const parameterDecoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = decoderOf(schema, "the parameters")
  return (parameters: object = {}): Effect.Effect<S["Type"], ClientFailure<"validation">> =>
    decode(asTexts(parameters))
}

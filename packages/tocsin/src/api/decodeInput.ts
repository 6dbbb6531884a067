import { describeIssue } from "@tocsin/core/contract/describeIssue"
import type { RawParameters } from "@tocsin/core/contract/decodeRequest"
import { ValidationError } from "@tocsin/core/contract/Errors"
import { Effect, Result, type Schema, SchemaParser } from "effect"

const toText = (value: unknown): unknown =>
  typeof value === "number" || typeof value === "boolean" ? String(value) : value

/**
 * Parameters as they would stand in a query, so that the contract's own decoders judge them: numbers and booleans as text,
 * absent ones left out. What a caller without types passes instead is left for the decoder to refuse.
 */
export const asQuery = (parameters: object): RawParameters =>
  Object.fromEntries(
    Object.entries(parameters)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, toText(value)]),
    // What is no text is refused by the decoder, which looks at everything.
  ) as RawParameters

const asJson = (body: unknown): unknown => {
  try {
    return JSON.parse(JSON.stringify(body))
  } catch {
    return body
  }
}

/**
 * Decodes a body as if it had come as JSON: a field that is undefined is absent, a Date is its ISO string. What fits as it
 * is, as most bodies do, is not written first.
 */
export const decodeBody = <A>(
  decode: (body: unknown) => Result.Result<A, ValidationError>,
  body: unknown,
): Effect.Effect<A, ValidationError> => {
  const decoded = decode(body)
  return Effect.fromResult(Result.isSuccess(decoded) ? decoded : decode(asJson(body)))
}

/** A decoder of the parameters of an action that the contract's decoders do not know, with the same words. */
export const decoderOf = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = SchemaParser.decodeUnknownResult(schema)
  return (parameters: object): Effect.Effect<S["Type"], ValidationError> =>
    Effect.fromResult(
      Result.mapError(
        decode(parameters),
        (issue) => new ValidationError({ message: describeIssue(issue, "the parameters") }),
      ),
    )
}

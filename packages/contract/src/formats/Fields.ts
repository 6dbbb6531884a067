import { Effect, Schema, SchemaAST, SchemaIssue } from "effect"
import { InstantFromString } from "./Instant.ts"

const hasOnly = (names: ReadonlySet<string>) =>
  Schema.makeFilter<object>((value, ast) => {
    for (const name of Object.keys(value)) {
      if (!names.has(name)) return { path: [name], issue: new SchemaIssue.UnexpectedKey(ast) }
    }
    return undefined
  })

/**
 * A struct that refuses unknown fields. The rule is part of the schema, so it holds whatever the
 * parse options; and unlike `onExcessProperty` it keeps decoding on the parser's fast path.
 */
export const closedStruct = <const Fields extends Schema.Struct.Fields>(
  fields: Fields,
): Schema.Struct<Fields> => {
  const open = Schema.Struct(fields)
  const { propertySignatures, indexSignatures, annotations, checks, encoding, context } = open.ast
  // An ordinary check sees the decoded side, where unknown fields are already gone.
  const encodingChecks = [hasOnly(new Set(Object.keys(fields)))] as const
  return open.rebuild(
    new SchemaAST.Objects(
      propertySignatures,
      indexSignatures,
      annotations,
      checks,
      encoding,
      context,
      encodingChecks,
    ),
  )
}

const EXPECTED = "an integer of at least 0"

/** A count or duration: an integer from 0 to 2^53 − 1 (docs/rules.md#values). */
export const NonNegativeInteger = Schema.Number.check(
  Schema.isInt({ expected: EXPECTED }),
  Schema.isGreaterThanOrEqualTo(0, { expected: EXPECTED }),
)

/** Whether a value is a {@link NonNegativeInteger}; faster than the schema. */
export const isNonNegativeInteger = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0

/** The name of a schema in documents, and what it is. */
export const named = (identifier: string, description: string) => ({ identifier, description })

export const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema).annotateKey({ description })

/** A field of true or false that an absent one leaves at its default. */
export const booleanOr = (value: boolean, description: string) =>
  Schema.Boolean.annotate({ description, default: value }).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(value)),
  )

/** A timestamp field with its description for the OpenAPI document. */
export const timestamp = (description: string): typeof InstantFromString =>
  // Flipped, because a document describes the encoded side.
  Schema.flip(Schema.flip(InstantFromString).annotate({ description }))

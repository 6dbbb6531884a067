import { Effect, Schema, SchemaAST, SchemaIssue } from "effect"
import { InstantFromString } from "./Instant.ts"

const hasOnly = (isName: (name: string) => boolean) =>
  Schema.makeFilter<object>((value, ast) => {
    for (const name of Object.keys(value)) {
      if (!isName(name)) return { path: [name], issue: new SchemaIssue.UnexpectedKey(ast) }
    }
    return undefined
  })

/** The same object, of which other names are refused. */
const closed = (
  { annotations, checks, context, encoding, indexSignatures, propertySignatures }: SchemaAST.Objects,
  isName: (name: string) => boolean,
) =>
  // An ordinary check sees the decoded side, where unknown fields are already gone.
  new SchemaAST.Objects(propertySignatures, indexSignatures, annotations, checks, encoding, context, [
    hasOnly(isName),
  ])

/**
 * A struct that refuses unknown fields. The rule is part of the schema, so it holds whatever the
 * parse options; and unlike `onExcessProperty` it keeps decoding on the parser's fast path.
 */
export const closedStruct = <const Fields extends Schema.Struct.Fields>(
  fields: Fields,
): Schema.Struct<Fields> => {
  const open = Schema.Struct(fields)
  return open.rebuild(closed(open.ast, (name) => Object.hasOwn(fields, name)))
}

/** A record that refuses names of another form, which a `Record` leaves out. */
export const closedRecord = <Value extends Schema.Constraint>(
  name: Schema.String,
  value: Value,
): Schema.$Record<Schema.String, Value> => {
  const open = Schema.Record(name, value)
  return open.rebuild(closed(open.ast, Schema.is(name)))
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

/** The checks of a text or a list: 1 to so many, in these words. */
export const fromOneTo = (most: number, expected?: string) => {
  const rule = expected === undefined ? undefined : { expected }
  return [Schema.isMinLength(1, rule), Schema.isMaxLength(most, rule)] as const
}

/** A text of 1 to so many characters. */
export const boundedText = (most: number, expected?: string) =>
  Schema.String.check(...fromOneTo(most, expected))

/** The name of a schema in documents, and what it is. */
export const named = (identifier: string, description: string) => ({ identifier, description })

/** A field with its description. Documents describe the encoded side, which knows no key of the decoded one. */
export const described = <S extends Schema.Top>(schema: S, description: string): S["Rebuild"] => {
  if (schema.ast.encoding === undefined) return schema.annotateKey({ description })
  const both: Schema.Top = schema
  const { ast } = Schema.flip(Schema.flip(both).annotateKey({ description }))
  // Flipped twice, it is a schema of the same kind.
  return schema.rebuild(ast as S["ast"])
}

export const optional = <S extends Schema.Top>(schema: S, description: string) =>
  described(Schema.optionalKey(schema), description)

/** A field of true or false that an absent one leaves at its default. */
export const booleanOr = (value: boolean, description: string) =>
  Schema.Boolean.annotate({ description, default: value }).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(value)),
  )

/** A timestamp field with its description for the OpenAPI document, which stays where it may be null. */
export const timestamp = (description: string): typeof InstantFromString =>
  Schema.flip(Schema.flip(InstantFromString).annotate({ description }))

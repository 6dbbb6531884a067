import { Schema, SchemaAST, SchemaIssue } from "effect"

const hasOnly = (names: ReadonlySet<string>) =>
  Schema.makeFilter<object>((value, ast) => {
    for (const name of Object.keys(value)) {
      if (!names.has(name)) return { path: [name], issue: new SchemaIssue.UnexpectedKey(ast) }
    }
    return undefined
  })

/**
 * A struct whose encoded form may hold no field but `fields` (contract: "object, no extra properties").
 *
 * The rule is part of the schema, so that it holds wherever the schema is decoded, whatever the parse options;
 * and decoding stays on the parser's fast path, which the option `onExcessProperty` leaves.
 */
export const closedStruct = <const Fields extends Schema.Struct.Fields>(
  fields: Fields,
): Schema.Struct<Fields> => {
  const open = Schema.Struct(fields)
  const { propertySignatures, indexSignatures, annotations, checks, encoding, context } = open.ast
  // A usual check sees the decoded side, from which unknown fields are gone.
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

import { PolicyDocument } from "@tocsin/core/policy/PolicyDocument"
import { Schema } from "effect"

/** The JSON Schema of a policy file, for editors. */
export const policySchema = (): Schema.JsonObject => {
  const {
    definitions,
    dialect: _,
    schema,
  } = Schema.toJsonSchemaDocument(PolicyDocument, {
    onExcessProperty: "error",
    generateDescriptions: true,
  })
  // A generated schema is JSON.
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...schema,
    $defs: definitions,
  } as Schema.JsonObject
}

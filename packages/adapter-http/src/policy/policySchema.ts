import { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { Predicate, Record, Schema } from "effect"

/** The name of the policy among the definitions. */
const ROOT = "Policy"

/** The JSON Schema of a policy file, for editors. */
export const policySchema = (): Schema.JsonObject => {
  const { definitions } = Schema.toJsonSchemaDocument(PolicyDocument, { onExcessProperty: "error" })
  const { [ROOT]: root, ...others } = definitions
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Tocsin policy",
    ...asJson(root),
    $defs: asJson(others),
  }
}

// A generated schema is JSON.
const asJson = (schema: unknown) => flattened(schema) as Schema.JsonObject

/** Conditions beside their type, instead of in lists of which editors show the first. */
const flattened = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(flattened)
  if (!Predicate.isObject(node)) return node
  const { allOf = [], ...schema } = node as { readonly allOf?: ReadonlyArray<object> }
  return Record.map(Object.assign(schema, ...allOf) as Record<string, unknown>, flattened)
}

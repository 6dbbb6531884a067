import { Predicate, Record } from "effect"

/** A JSON object, of which nothing more is known. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Keywords that constrain nothing: they may stand beside a reference (OpenAPI 3.1). */
const ANNOTATIONS = new Set(["description", "default", "title", "examples"])

const isNote = (schema: unknown): schema is JsonObject =>
  Predicate.isObject(schema) && Object.keys(schema).every((key) => key === "$ref" || ANNOTATIONS.has(key))

/** Removes an `allOf` of annotations only, which viewers and generators do not understand. */
const withoutNotes = ({ allOf, ...schema }: JsonObject): JsonObject => {
  if (!Array.isArray(allOf)) return schema
  return allOf.every(isNote) ? Object.assign({ ...schema }, ...allOf) : { ...schema, allOf }
}

/** UTC only (docs/rules.md#values), which the format alone does not say. */
const inUtc = (schema: JsonObject): JsonObject =>
  schema["format"] === "date-time" ? { ...schema, pattern: String.raw`([Zz]|\+00:00)$` } : schema

const plain = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(plain)
  return Predicate.isObject(node) ? plainSchema(node as JsonObject) : node
}

/** A generated schema in its simplest form, with the same meaning. */
export const plainSchema = (schema: JsonObject): JsonObject => inUtc(withoutNotes(Record.map(schema, plain)))

const isFlag = (schema: JsonObject): boolean =>
  Array.isArray(schema["enum"]) && schema["enum"].join() === "true,false"

/**
 * The schema of a query parameter with its real type (docs/rules.md#lists): the schemas that decode
 * it see text.
 */
export const typedQuery = (name: string, schema: JsonObject): JsonObject => {
  if (name === "limit") return { type: "integer", minimum: 1, maximum: 500, default: 100 }
  if (!isFlag(schema)) return schema
  return "default" in schema ? { type: "boolean", default: false } : { type: "boolean" }
}

import { Predicate, Record } from "effect"

type Json = Readonly<Record<string, unknown>>

const limit = { type: "integer", minimum: 1, maximum: 500, default: 100 }
const flag = { type: "boolean", default: false }

const isFlag = (schema: Json): boolean =>
  Array.isArray(schema["enum"]) && schema["enum"].join() === "true,false"

const typed = (name: unknown, schema: Json): Json => {
  const { description } = schema
  if (name === "limit") return { ...limit, description }
  return isFlag(schema) ? { ...flag, description } : schema
}

const typedNode = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(typedNode)
  if (!Predicate.isObject(node)) return node
  const { in: place, name, schema } = node
  return place === "query" && Predicate.isObject(schema)
    ? { ...node, schema: typed(name, schema) }
    : typedQueries(node)
}

/**
 * An OpenAPI document whose query parameters have the types that they stand for (contract, shared list parameters): to
 * the schemas that decode them they are texts.
 */
export const typedQueries = (document: Json): Record<string, unknown> => Record.map(document, typedNode)

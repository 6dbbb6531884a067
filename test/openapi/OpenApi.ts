/** A schema of a document: JSON Schema 2020-12, as far as generated documents use it. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: JsonSchema | boolean
  readonly propertyNames?: JsonSchema
  readonly maxProperties?: number
  readonly description?: string
  readonly default?: unknown
}

export interface Reference {
  readonly $ref: string
}

export interface Example {
  readonly summary: string
  readonly value: unknown
}

export interface MediaType {
  readonly schema: JsonSchema
  readonly examples?: Readonly<Record<string, Example>>
}

export interface Header {
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, Header | Reference>>
  readonly content?: Readonly<Record<string, MediaType>>
}

export interface Parameter {
  readonly name: string
  readonly in: "header" | "path" | "query"
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
  readonly example?: unknown
}

/** The header fields that every request to an operation has, as the document shows them. */
export const requiredHeaders = ({ parameters }: Pick<Operation, "parameters">) =>
  Object.fromEntries(
    parameters
      .filter((parameter) => parameter.in === "header" && parameter.required)
      .map(({ example, name }) => [name, String(example)]),
  )

export interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags: ReadonlyArray<string>
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, MediaType>> }
  readonly responses: Readonly<Record<string, Response | Reference>>
}

/** An OpenAPI document as far as the service's own documents go. */
export interface OpenApi {
  readonly openapi: string
  readonly info: Readonly<Record<string, unknown>>
  readonly servers: ReadonlyArray<{ readonly url: string; readonly description?: string }>
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description?: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, Response>>
    readonly headers: Readonly<Record<string, Header>>
    readonly securitySchemes: Readonly<Record<string, { readonly type: string; readonly scheme: string }>>
  }
}

/** An operation where it stands in its document. */
export interface PlacedOperation {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** All operations of a document. */
export const operationsOf = ({ paths }: OpenApi): ReadonlyArray<PlacedOperation> =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

/** The target of a reference into a document; any other value itself. */
export const resolved = <A extends object>(document: OpenApi, value: A | Reference): A => {
  if (!("$ref" in value)) return value
  let found: unknown = document
  for (const part of value.$ref.slice(2).split("/")) found = (found as Record<string, unknown>)[part]
  if (found === undefined) throw new Error(`${value.$ref} leads nowhere`)
  // A reference leads to a value of the same type.
  return found as A
}

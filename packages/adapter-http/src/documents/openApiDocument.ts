import type { Role } from "@tocsin/contract/operators/Operators"
import { RequiredRole } from "@tocsin/contract/api/operation"
import { Array, Context, Order, Predicate, Record } from "effect"
import { type HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { endpointsOf } from "../routes.ts"
import type { DocumentedOperation, Examples, Tag } from "./examples.ts"
import {
  errorName,
  errorResponse,
  type ErrorTexts,
  headersOf,
  headersOfEvery,
  type JsonObject,
} from "./errorResponses.ts"

/** Keywords that constrain nothing: they may stand beside a reference (OpenAPI 3.1). */
const ANNOTATIONS = new Set(["description", "default", "title", "examples"])

const isNote = (schema: unknown): schema is JsonObject =>
  Predicate.isObject(schema) && Object.keys(schema).every((key) => key === "$ref" || ANNOTATIONS.has(key))

/** A field's text, and after it the form of its value: `a duration` stands after `The timeout.` as `A duration.` */
const inOne = (field: unknown, form: unknown): unknown =>
  typeof form === "string" && typeof field === "string" && /^[a-z]/.test(form)
    ? `${field} ${form.charAt(0).toUpperCase()}${form.slice(1)}.`
    : (field ?? form)

/** Removes an `allOf` of annotations only, which viewers and generators do not understand. */
const withoutNotes = ({ allOf, ...schema }: JsonObject): JsonObject => {
  if (!Array.isArray(allOf)) return schema
  if (!allOf.every(isNote)) return { ...schema, allOf }
  const notes: JsonObject = Object.assign({}, ...allOf)
  const description = inOne(notes["description"], schema["description"])
  return { ...schema, ...notes, ...(description !== undefined && { description }) }
}

/** UTC only (docs/rules.md#values), which the format alone does not say. */
const inUtc = (schema: JsonObject): JsonObject =>
  schema["format"] === "date-time" ? { ...schema, pattern: String.raw`([Zz]|\+00:00)$` } : schema

const plain = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(plain)
  return Predicate.isObject(node) ? plainSchema(node as JsonObject) : node
}

/** A generated schema in its simplest form, with the same meaning. */
const plainSchema = (schema: JsonObject): JsonObject => inUtc(withoutNotes(Record.map(schema, plain)))

const isFlag = (schema: JsonObject): boolean =>
  Array.isArray(schema["enum"]) && schema["enum"].join() === "true,false"

/** The schema of a query parameter with its real type (docs/rules.md#lists): the schemas that decode it see text. */
const typedQuery = (name: string, schema: JsonObject): JsonObject => {
  if (name === "limit") return { type: "integer", minimum: 1, maximum: 500, default: 100 }
  if (!isFlag(schema)) return schema
  return "default" in schema ? { type: "boolean", default: false } : { type: "boolean" }
}

/** A document's texts beyond the definition of its API. */
export interface Documentation extends ErrorTexts {
  /** How to use the API, in CommonMark. */
  readonly description: string
  /** The start of the paths, relative to the document, which may be mounted anywhere. */
  readonly server: string
  /** Whether its acts have idempotency keys. */
  readonly hasIdempotencyKeys: boolean
  readonly tags: ReadonlyArray<Tag>
}

/** Ids in paths. Generated parameters lose the descriptions of their schemas, which decode twice. */
const pathParameters: Readonly<Record<string, JsonObject>> = {
  name: { description: "Names an operator.", example: "ann" },
  agent_id: { description: "Names an agent; chosen by its operator.", example: "web-01" },
  check_id: { description: "Names one check of an agent.", example: "disk" },
}

/** The header field of acts, and the answers that it leads to (docs/rules.md#acting-once). */
const IDEMPOTENCY_KEY = {
  parameter: {
    name: "Idempotency-Key",
    in: "header",
    description: "Repeats within 24 hours with the same key, path and body get the first answer.",
    required: false,
    schema: { type: "string", pattern: "^[!-~]{1,128}$" },
  },
  responses: { 400: "Validation", 409: "Conflict", 429: "RateLimited" },
} as const

type Operation = OpenApi.OpenAPISpecOperation

const FIRST_ERROR = 400

const parameter = (
  { name, in: place, required, schema: generated }: OpenApi.OpenAPISpecParameter,
  { parameters }: DocumentedOperation,
): JsonObject => {
  const { description, ...schema } = plainSchema(generated as JsonObject)
  const example = parameters?.[name]
  return {
    name,
    in: place,
    description,
    required,
    schema: place === "query" ? typedQuery(name, schema) : schema,
    ...(place === "path" && pathParameters[name]),
    ...(example !== undefined && { example }),
  }
}

/** Statuses that the definition gives to whole groups, and that an operation cannot answer. */
const isImpossible = (status: number, isForAll: boolean, { parameters, requestBody }: Operation): boolean => {
  // Every role includes `read` (docs/rules.md#operators).
  if (status === 403) return isForAll
  return status === 400 && parameters.length === 0 && requestBody === undefined
}

const withExamples = (content: OpenApi.OpenApiSpecContent = {}, examples: Examples = {}): JsonObject =>
  Record.map(content, ({ schema }) => ({
    schema,
    examples: Record.map(examples, ([summary, value]) => ({ summary, value })),
  }))

const responses = (
  operation: Operation,
  isForAll: boolean,
  { byStatus, headers, success }: DocumentedOperation,
): JsonObject =>
  Object.fromEntries(
    Object.entries(operation.responses)
      .filter(([status]) => !isImpossible(Number(status), isForAll, operation))
      .map(([status, response]) => [
        status,
        Number(status) < FIRST_ERROR
          ? {
              description: response.description,
              headers: { ...headersOf(response), ...headers },
              content: withExamples(response.content, byStatus?.[Number(status)] ?? success),
            }
          : { $ref: `#/components/responses/${errorName(response)}` },
      ]),
  )

/** An operation under the name of its endpoint, which is unique without that of its group. */
const documented = (
  operation: Operation,
  { tags }: Documentation,
  roles: ReadonlyMap<string, Role | undefined>,
  hasKey: boolean,
): JsonObject => {
  const operationId = operation.operationId.slice(operation.operationId.indexOf(".") + 1)
  const [tag, , operations] = tags.find(([, , named]) => Object.hasOwn(named, operationId)) ?? []
  const words = operations?.[operationId]
  if (words === undefined) throw new Error(`describe ${operationId} in features/ or documents/`)
  const { security, parameters, requestBody } = operation
  const role = roles.get(operationId)
  const isAct = hasKey && role !== undefined
  return {
    tags: [tag],
    operationId,
    summary: words.summary,
    description:
      role === undefined ? words.description : `${words.description} Requires the role \`${role}\`.`,
    // Names of roles, which OpenAPI 3.1 allows for every scheme.
    security: role === undefined ? security : security.map(Record.map(() => [role])),
    parameters: [
      ...parameters.map((each) => parameter(each, words)),
      ...(isAct ? [IDEMPOTENCY_KEY.parameter] : []),
    ],
    ...(requestBody !== undefined && {
      requestBody: { required: true, content: withExamples(requestBody.content, words.request) },
    }),
    responses: {
      ...(isAct &&
        Record.map(IDEMPOTENCY_KEY.responses, (name) => ({ $ref: `#/components/responses/${name}` }))),
      ...responses(operation, role === "read", words),
    },
  }
}

const sorted = <A>(record: Readonly<Record<string, A>>): Readonly<Record<string, A>> =>
  Object.fromEntries(Array.sortWith(Object.entries(record), ([name]) => name, Order.String))

const errorResponses = ({ paths }: OpenApi.OpenAPISpec, documentation: Documentation) =>
  Object.fromEntries(
    // Generated path items contain operations only.
    Object.values(paths)
      .flatMap((item) => Object.values(item) as Array<Operation>)
      .flatMap((operation) => Object.entries(operation.responses))
      .filter(([status]) => Number(status) >= FIRST_ERROR)
      .map(([, response]) => [errorName(response), errorResponse(response, documentation)]),
  )

const AS_TEXT = /(AgentId|CheckId)Encoded$/

/** Removes the second type of ids in paths, which the definition decodes twice. */
const withPlainIds = (node: unknown): unknown => {
  if (typeof node === "string") return node.replace(AS_TEXT, "$1")
  if (Array.isArray(node)) return Array.map(node, withPlainIds)
  return Predicate.isObject(node)
    ? Object.fromEntries(
        Object.entries(node)
          .filter(([name]) => !AS_TEXT.test(name))
          .map(([name, value]) => [name, withPlainIds(value)]),
      )
    : node
}

/** The OpenAPI 3.1 document of an API: its definition, with examples and instructions. */
export const openApiDocument = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  documentation: Documentation,
): JsonObject => {
  const generated = withPlainIds(OpenApi.fromApi(api)) as OpenApi.OpenAPISpec
  const { title, summary, version } = generated.info
  const { schemas, securitySchemes } = generated.components
  const roles = new Map(
    endpointsOf(api).map(({ endpoint }) => [
      endpoint.identifier,
      Context.getOrUndefined(endpoint.annotations, RequiredRole),
    ]),
  )
  return {
    openapi: generated.openapi,
    info: {
      title,
      summary,
      version,
      description: documentation.description,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: documentation.server, description: "The service that this document came from." }],
    tags: documentation.tags.flatMap(([name, description]) =>
      description === undefined ? [] : [{ name, description }],
    ),
    paths: Record.map(generated.paths, (item) =>
      Record.map(item as Record<string, Operation>, (operation, method) =>
        documented(operation, documentation, roles, documentation.hasIdempotencyKeys && method !== "get"),
      ),
    ),
    components: {
      schemas: sorted(Record.map(schemas, (schema) => plainSchema(schema as JsonObject))),
      responses: sorted(errorResponses(generated, documentation)),
      headers: headersOfEvery,
      // Schemes are case-insensitive, but generators compare them to this one.
      securitySchemes: Record.map(securitySchemes, (scheme) => ({ ...scheme, scheme: "bearer" })),
    },
  }
}

import type { Role } from "@tocsin/contract/Operators"
import { Array, Context, Order, Predicate, Record } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { RequiredRole } from "@tocsin/contract/api/operation"
import { errorName, errorResponse, type ErrorTexts, headersOf, headersOfEvery } from "./errorResponses.ts"
import { operationExamples, pathParameters } from "./examples.ts"
import type { OperationExamples } from "./OperationExamples.ts"
import { type JsonObject, plainSchema, typedQuery } from "./plainSchema.ts"

/** A document's texts beyond the definition of its API. */
export interface Documentation extends ErrorTexts {
  /** How to use the API, in CommonMark. */
  readonly description: string
  /** The start of the paths, relative to the document, which may be mounted anywhere. */
  readonly server: string
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
}

type Operation = OpenApi.OpenAPISpecOperation

/** The lowest status of an error. */
const FIRST_ERROR = 400

const parameter = (
  { name, in: place, required, schema: generated }: OpenApi.OpenAPISpecParameter,
  { parameters }: OperationExamples,
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

const withExamples = (content: OpenApi.OpenApiSpecContent = {}, examples: unknown): JsonObject =>
  Record.map(content, ({ schema }) => ({ schema, examples }))

const responses = (
  operation: Operation,
  isForAll: boolean,
  { byStatus, success }: OperationExamples,
): JsonObject =>
  Object.fromEntries(
    Object.entries(operation.responses)
      .filter(([status]) => !isImpossible(Number(status), isForAll, operation))
      .map(([status, response]) => [
        status,
        Number(status) < FIRST_ERROR
          ? {
              description: response.description,
              headers: headersOf(response),
              content: withExamples(response.content, byStatus?.[Number(status)] ?? success),
            }
          : { $ref: `#/components/responses/${errorName(response)}` },
      ]),
  )

/** An operation under the name of its endpoint, which is unique without that of its group. */
const documented = (operation: Operation, roles: ReadonlyMap<string, Role>): JsonObject => {
  const operationId = operation.operationId.slice(operation.operationId.indexOf(".") + 1)
  const examples = operationExamples[operationId]
  if (examples === undefined) throw new Error(`give an example of ${operationId} in documents/examples.ts`)
  const { tags, summary, description, security, parameters, requestBody } = operation
  const role = roles.get(operationId)
  return {
    tags,
    operationId,
    summary,
    description: role === undefined ? description : `${description} Requires the role \`${role}\`.`,
    // Names of roles, which OpenAPI 3.1 allows for every scheme.
    security: role === undefined ? security : security.map(Record.map(() => [role])),
    parameters: parameters.map((each) => parameter(each, examples)),
    ...(requestBody !== undefined && {
      requestBody: { required: true, content: withExamples(requestBody.content, examples.request) },
    }),
    responses: responses(operation, role === "read", examples),
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

/** The role that each endpoint of operators requires, by its name. */
const requiredRoles = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
): ReadonlyMap<string, Role> => {
  const roles = new Map<string, Role>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const role = Context.getOrUndefined(endpoint.annotations, RequiredRole)
      if (role !== undefined) roles.set(endpoint.identifier, role)
    },
  })
  return roles
}

/** The OpenAPI 3.1 document of an API: its definition, with examples and instructions. */
export const openApiDocument = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  documentation: Documentation,
): JsonObject => {
  const generated = withPlainIds(OpenApi.fromApi(api)) as OpenApi.OpenAPISpec
  const { title, summary, version } = generated.info
  const { schemas, securitySchemes } = generated.components
  const roles = requiredRoles(api)
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
    tags: documentation.tags,
    paths: Record.map(generated.paths, (item) =>
      Record.map(item as Record<string, Operation>, (operation) => documented(operation, roles)),
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

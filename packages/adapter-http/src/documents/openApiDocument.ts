import type { ErrorCode } from "@tocsin/contract/Errors"
import type { Role } from "@tocsin/contract/Operators"
import { RequiredRole } from "@tocsin/contract/api/operation"
import { Array, Context, Order, Predicate, Record, String } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import type { OperationExamples } from "./OperationExamples.ts"
import { operationExamples, pathParameters } from "./examples.ts"
import { headersOfErrors, headersOfEvery, IDEMPOTENCY_KEY } from "./headerFields.ts"
import { type JsonObject, plainSchema, typedQuery } from "./plainSchema.ts"
import { REQUEST_ID } from "./scenario.ts"
import { type OperationTexts, textsOf } from "./OperationTexts.ts"

const references = Object.fromEntries(
  Object.keys(headersOfEvery).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

/** The header fields of an answer: those of every one, and those that its definition gives it. */
const headersOf = ({ headers = {} }: OpenApi.OpenApiSpecResponse): JsonObject => {
  const own = Object.entries(headers).map(([key, { schema, required }]) => {
    const known = headersOfErrors[key]
    return known === undefined ? [key, { required, schema }] : [known.name, { ...known.header, required }]
  })
  return { ...references, ...Object.fromEntries(own) }
}

/** A message of the service for each code. Tests compare them with its answers. */
const usual: Readonly<Record<ErrorCode, string>> = {
  validation: "agent_id must be 1 to 128 letters, digits or the characters . _ : -",
  unauthorized: "send the header Authorization: Bearer with a token of 1 to 512 visible ASCII characters",
  forbidden: "this operation requires the role admin; your token has the role read",
  agent_blocked: "this agent key is blocked; to let it register again, delete its blacklist row",
  agent_not_accepted:
    "this agent key is not accepted for this agent_id; send a heartbeat, then have an operator accept the agent",
  not_found: "no agent has this agent_id; list agents with GET /api/v1/agents",
  conflict: "this agent key belongs to another agent_id; give each agent a key of its own",
  payload_too_large: "the request body must not be larger than 1 MiB (1048576 bytes)",
  rate_limited: "too many heartbeats; slow down and try again in 1 s",
  internal: "the storage is unreachable or refuses writes; try again later",
  not_ready: "the storage is unreachable or refuses writes, or the service is shutting down",
}

/** A document's texts about errors beyond the definition. */
interface ErrorTexts {
  /** Descriptions of errors by the names of their responses, if the general ones are too narrow. */
  readonly responses: Readonly<Record<string, string>>
  /** Example messages, if they are not the usual ones. */
  readonly messages: Readonly<Partial<Record<ErrorCode, string>>>
}

const schemaNames = (schema: JsonObject): ReadonlyArray<string> => {
  const { $ref, anyOf } = schema
  if (typeof $ref === "string") return [$ref.slice($ref.lastIndexOf("/") + 1)]
  // Its members are schemas.
  return Array.isArray(anyOf) ? (anyOf as ReadonlyArray<JsonObject>).flatMap(schemaNames) : []
}

/** The names of an error's schemas, without "Error". */
const errorNames = ({ content }: OpenApi.OpenApiSpecResponse): ReadonlyArray<string> =>
  Object.values(content ?? {})
    .flatMap(({ schema }) => schemaNames(schema))
    .map((name) => name.replace(/Error$/, ""))

/** The name of an error's response among the document's components. */
const errorName = (response: OpenApi.OpenApiSpecResponse): string => errorNames(response).join("Or")

/** The error whose code is that of another one, with its message. */
const PRECONDITION_FAILED = {
  name: "PreconditionFailed",
  code: "conflict",
  message: "another policy is in force: compare with GET /ops/v1/policy, and apply yours again",
} as const

const exampleOf = (name: string, { messages }: ErrorTexts) => {
  const isPrecondition = name === PRECONDITION_FAILED.name
  // Its code in the form of a type's name, as the definition of the API has it.
  const code = isPrecondition ? PRECONDITION_FAILED.code : (String.pascalToSnake(name) as ErrorCode)
  const message = isPrecondition ? PRECONDITION_FAILED.message : (messages[code] ?? usual[code])
  return [
    code,
    {
      summary: `An error with the code ${code}`,
      value: { error: { code, message, request_id: REQUEST_ID } },
    },
  ] as const
}

/** The response of an error as a component of the document. */
const errorResponse = (response: OpenApi.OpenApiSpecResponse, texts: ErrorTexts): JsonObject => {
  const [media] = Object.values(response.content ?? {})
  const examples = Object.fromEntries(errorNames(response).map((name) => exampleOf(name, texts)))
  return {
    description: texts.responses[errorName(response)] ?? response.description.replaceAll(" | ", " Or: "),
    headers: headersOf(response),
    content: { "application/json": { schema: media?.schema, examples } },
  }
}

/** A document's texts beyond the definition of its API. */
export interface Documentation extends ErrorTexts {
  /** How to use the API, in CommonMark. */
  readonly description: string
  /** The start of the paths, relative to the document, which may be mounted anywhere. */
  readonly server: string
  /** Whether its acts have idempotency keys. */
  readonly hasIdempotencyKeys?: true
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly operations: OperationTexts
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
const documented = (
  operation: Operation,
  operations: OperationTexts,
  roles: ReadonlyMap<string, Role>,
  hasKey: boolean,
): JsonObject => {
  const operationId = operation.operationId.slice(operation.operationId.indexOf(".") + 1)
  const examples = operationExamples[operationId]
  if (examples === undefined) throw new Error(`give an example of ${operationId} in documents/examples.ts`)
  const { security, parameters, requestBody } = operation
  const { tags, summary, description } = textsOf(operationId, operations)
  const role = roles.get(operationId)
  const isAct = hasKey && role !== undefined
  return {
    tags,
    operationId,
    summary,
    description: role === undefined ? description : `${description} Requires the role \`${role}\`.`,
    // Names of roles, which OpenAPI 3.1 allows for every scheme.
    security: role === undefined ? security : security.map(Record.map(() => [role])),
    parameters: [
      ...parameters.map((each) => parameter(each, examples)),
      ...(isAct ? [IDEMPOTENCY_KEY.parameter] : []),
    ],
    ...(requestBody !== undefined && {
      requestBody: { required: true, content: withExamples(requestBody.content, examples.request) },
    }),
    responses: {
      ...(isAct &&
        Record.map(IDEMPOTENCY_KEY.responses, (name) => ({ $ref: `#/components/responses/${name}` }))),
      ...responses(operation, role === "read", examples),
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
      Record.map(item as Record<string, Operation>, (operation, method) =>
        documented(
          operation,
          documentation.operations,
          roles,
          documentation.hasIdempotencyKeys === true && method !== "get",
        ),
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

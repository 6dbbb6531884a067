import { Record } from "effect"
import type { OpenApi } from "effect/http-api"
import type { JsonObject, OperationText, ParameterText } from "./Documentation.ts"
import { errorName } from "./errorResponses.ts"
import { headersOf } from "./headersOf.ts"
import { plainSchema, typedQuery } from "./plainSchema.ts"
import { pathParameters, queryParameters } from "./sharedParameters.ts"

type Operation = OpenApi.OpenAPISpecOperation
type Parameter = OpenApi.OpenAPISpecParameter

/** The statuses from which on an answer is an error. */
export const FIRST_ERROR = 400

const textOf = ({ name, in: place }: Parameter, text: OperationText): ParameterText | undefined =>
  text.parameters?.[name] ?? (place === "path" ? pathParameters : queryParameters)[name]

const documentedParameter = (parameter: Parameter, text: OperationText): JsonObject => {
  const { name, in: place, required } = parameter
  const { description: ofSchema, ...schema } = plainSchema(parameter.schema as JsonObject)
  return {
    name,
    in: place,
    description: ofSchema,
    required,
    schema: place === "query" ? typedQuery(name, schema) : schema,
    ...textOf(parameter, text),
  }
}

const success = (response: OpenApi.OpenApiSpecResponse, text: OperationText): JsonObject => ({
  description: response.description,
  headers: headersOf(response),
  content: Record.map(response.content ?? {}, ({ schema }) => ({ schema, examples: text.success })),
})

/** Statuses that the definition gives to whole groups, and that an operation cannot answer. */
const isImpossible = (status: number, method: string, { parameters, requestBody }: Operation): boolean => {
  // Every token may read (docs/rules.md#tokens).
  if (status === 403) return method === "get"
  if (status === 400) return parameters.length === 0 && requestBody === undefined
  return false
}

const responsesOf = (operation: Operation, method: string, text: OperationText): JsonObject =>
  Object.fromEntries(
    Object.entries(operation.responses)
      .filter(([status]) => !isImpossible(Number(status), method, operation))
      .map(([status, response]) => [
        status,
        Number(status) < FIRST_ERROR
          ? success(response, text)
          : { $ref: `#/components/responses/${errorName(response)}` },
      ]),
  )

/** The name of an operation's endpoint: without that of its group, they are unique. */
export const endpointOf = ({ operationId }: Operation): string =>
  operationId.slice(operationId.indexOf(".") + 1)

/** An operation with what is said of it. */
export const documentedOperation = (
  operation: Operation,
  method: string,
  text: OperationText,
): JsonObject => ({
  tags: [text.tag],
  operationId: endpointOf(operation),
  summary: operation.summary,
  description: text.description,
  security: operation.security,
  parameters: operation.parameters.map((parameter) => documentedParameter(parameter, text)),
  ...(operation.requestBody !== undefined && {
    requestBody: {
      required: true,
      content: Record.map(operation.requestBody.content, ({ schema }) => ({
        schema,
        examples: text.request,
      })),
    },
  }),
  responses: responsesOf(operation, method, text),
})

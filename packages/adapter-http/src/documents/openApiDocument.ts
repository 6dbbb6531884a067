import { Array, Order, Predicate, Record } from "effect"
import { type HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import type { Documentation, JsonObject } from "./Documentation.ts"
import { documentedOperation, endpointOf, FIRST_ERROR } from "./documentedOperation.ts"
import { errorName, errorResponse } from "./errorResponses.ts"
import { headersOfEvery } from "./headersOf.ts"
import { plainSchema } from "./plainSchema.ts"

const sorted = <A>(record: Readonly<Record<string, A>>): Readonly<Record<string, A>> =>
  Object.fromEntries(Array.sortWith(Object.entries(record), ([name]) => name, Order.String))

const operationsOf = ({ paths }: OpenApi.OpenAPISpec): ReadonlyArray<OpenApi.OpenAPISpecOperation> =>
  // Nothing but operations stands in generated path items.
  Object.values(paths).flatMap((item) => Object.values(item) as Array<OpenApi.OpenAPISpecOperation>)

const pathsOf = ({ paths }: OpenApi.OpenAPISpec, { operations }: Documentation) =>
  Record.map(paths, (item) =>
    Record.map(item as Readonly<Record<string, OpenApi.OpenAPISpecOperation>>, (operation, method) => {
      const text = operations[endpointOf(operation)]
      if (text === undefined) throw new Error(`say in the documentation what ${endpointOf(operation)} does`)
      return documentedOperation(operation, method, text)
    }),
  )

const errorResponses = (generated: OpenApi.OpenAPISpec, documentation: Documentation) =>
  Object.fromEntries(
    operationsOf(generated)
      .flatMap(({ responses }) => Object.entries(responses))
      .filter(([status]) => Number(status) >= FIRST_ERROR)
      .map(([, response]: readonly [string, OpenApi.OpenApiSpecResponse]) => [
        errorName(response),
        errorResponse(response, documentation),
      ]),
  )

const AS_TEXT = /(AgentId|CheckId)Encoded$/

/** Ids in paths, which the definition decodes once more, are to readers ids as any other. */
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

/** The OpenAPI 3.1 document of an API: generated from its definition, with what is said of it beside that. */
export const openApiDocument = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  documentation: Documentation,
): JsonObject => {
  const generated = withPlainIds(OpenApi.fromApi(api)) as OpenApi.OpenAPISpec
  const { title, summary, description, server, tags } = documentation
  const { schemas, securitySchemes } = generated.components
  return {
    openapi: generated.openapi,
    info: {
      title,
      summary,
      version: generated.info.version,
      description,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: server, description: "The service that this document came from." }],
    tags,
    paths: pathsOf(generated, documentation),
    components: {
      schemas: sorted(Record.map(schemas, (schema) => plainSchema(schema as JsonObject))),
      responses: sorted(errorResponses(generated, documentation)),
      headers: headersOfEvery,
      // Names of schemes are written in any case; generators compare them to this one.
      securitySchemes: Record.map(securitySchemes, (scheme) => ({ ...scheme, scheme: "bearer" })),
    },
  }
}

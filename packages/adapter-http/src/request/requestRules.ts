import { describeIssue } from "@tocsin/contract/describeIssue"
import { Effect, Layer, SchemaIssue } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { IgnoredBody, ValidParameters } from "@tocsin/contract/api/operation"
import { readIgnored } from "./RequestBody.ts"
import { fail } from "../response/failures.ts"

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

const describe = (issue: SchemaIssue.Issue, query: Readonly<Record<string, unknown>>): string => {
  const name = formatIssues(issue).issues[0]?.path?.[0]
  return typeof name === "string" && Array.isArray(query[name])
    ? `${name} must be given only once`
    : describeIssue(issue, "the parameters")
}

const validParameters = HttpApiMiddleware.layerSchemaErrorTransform(
  ValidParameters,
  Effect.fnUntraced(function* (error) {
    // An answer that does not fit its schema is a defect, not the sender's fault.
    if (error.kind !== "Params" && error.kind !== "Query") return yield* Effect.fail(error)
    return yield* fail({
      code: "validation",
      message: describe(error.cause.issue, yield* HttpServerRequest.ParsedSearchParams),
    })
  }),
)

const ignoredBody = Layer.succeed(IgnoredBody, (httpEffect) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.andThen(readIgnored(request), httpEffect),
  ),
)

/** The implementations of the rules that the API's definition names. */
export const layer: Layer.Layer<ValidParameters | IgnoredBody> = Layer.mergeAll(validParameters, ignoredBody)

import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { describeIssue } from "@tocsin/contract/formats/describeIssue"
import { ExportParameters } from "@tocsin/contract/export/Export"
import { Effect, Result, SchemaParser, type Scope, Stream } from "effect"
import { HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { ExportLine, ExportSpan } from "../Resources.ts"
import { type AnyCallCode, type ClientFailure, TocsinClientError } from "../TocsinClientError.ts"
import type { ReadOptions } from "../options/ClientOptions.ts"
import { toClientError, withoutRedirects } from "../sending/attempt.ts"

/** Why an export fails. */
export type ExportFailure = ClientFailure<
  AnyCallCode | "forbidden" | "internal" | "payload_too_large" | "unauthorized" | "validation"
>

const readSpan = SchemaParser.decodeUnknownResult(ExportParameters)

const decodeRefusal = HttpApiClient.decodeResponse(OpsApi, { group: "export", endpoint: "exportRows" })

const wasCut = (origin: string, cause?: unknown) =>
  new TocsinClientError(
    "connection",
    `the export of ${origin} ended before its last line; go on with the last cursor that it had`,
    { cause },
  )

/** The lines of an answer. Fails where the last one is missing. */
const linesIn = (texts: Stream.Stream<string, unknown>, origin: string) =>
  Stream.suspend(() => {
    let rest = ""
    let hasEnded = false
    const read = (text: string): ReadonlyArray<ExportLine> => {
      const lines = (rest + text).split("\n")
      rest = lines.pop() ?? ""
      return lines.map((line) => {
        // The service's own line.
        const parsed = JSON.parse(line) as ExportLine
        hasEnded = "end" in parsed
        return parsed
      })
    }
    const end = Effect.suspend(() => (hasEnded ? Effect.void : Effect.fail(wasCut(origin))))
    return texts.pipe(
      Stream.mapError((cause) => wasCut(origin, cause)),
      Stream.map(read),
      Stream.flattenIterable,
      Stream.concat(Stream.drain(Stream.fromEffect(end))),
    )
  })

/** Exports as streams of lines, each read as it is taken. */
export const exportLines = Effect.fnUntraced(function* (client: HttpClient.HttpClient, options: ReadOptions) {
  const { baseUrl, origin } = options
  const httpClient = HttpClient.withScope(client)
  const streaming = yield* HttpApiClient.group(OpsApi, { group: "export", httpClient, baseUrl })
  const withClientErrors = toClientError(origin)
  return (span: ExportSpan): Stream.Stream<ExportLine, ExportFailure> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const query = yield* Effect.fromResult(
          Result.mapError(
            readSpan(span),
            (issue) => new TocsinClientError("validation", describeIssue(issue, "the parameters")),
          ),
        )
        const sent = streaming.exportRows({ query, responseMode: "response-only" })
        const response = yield* withClientErrors(Effect.updateContext(sent, withoutRedirects<Scope.Scope>))
        if (response.status !== 200) {
          yield* withClientErrors(decodeRefusal(response))
          return yield* Effect.fail(wasCut(origin))
        }
        return linesIn(Stream.decodeText(response.stream), origin)
      }),
    )
})

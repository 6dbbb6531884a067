import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { gunzipSync } from "node:zlib"
import { Effect, Schema, type Scope } from "effect"

const Attributes = Schema.Array(
  Schema.Struct({ key: Schema.String, value: Schema.Record(Schema.String, Schema.Unknown) }),
)

const Span = Schema.Struct({
  traceId: Schema.String,
  spanId: Schema.String,
  parentSpanId: Schema.optional(Schema.String),
  name: Schema.String,
  kind: Schema.Int,
  attributes: Attributes,
})

const LogRecord = Schema.Struct({
  severityText: Schema.String,
  body: Schema.Record(Schema.String, Schema.Unknown),
  attributes: Attributes,
  traceId: Schema.optional(Schema.String),
  spanId: Schema.optional(Schema.String),
})

const Resource = Schema.Struct({ attributes: Attributes })

const Traces = Schema.fromJsonString(
  Schema.Struct({
    resourceSpans: Schema.Array(
      Schema.Struct({
        resource: Resource,
        scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(Span) })),
      }),
    ),
  }),
)

const Logs = Schema.fromJsonString(
  Schema.Struct({
    resourceLogs: Schema.Array(
      Schema.Struct({
        resource: Resource,
        scopeLogs: Schema.Array(Schema.Struct({ logRecords: Schema.Array(LogRecord) })),
      }),
    ),
  }),
)

const decodeTraces = Schema.decodeUnknownSync(Traces)
const decodeLogs = Schema.decodeUnknownSync(Logs)

/** A span, or a record of the log, as it came. */
export interface Exported<A> {
  readonly of: A
  readonly resource: Readonly<Record<string, unknown>>
}

/** A collector of OTLP over HTTP, in JSON, on loopback. */
export interface OtlpCollector {
  readonly url: string
  readonly spans: ReadonlyArray<Exported<typeof Span.Type>>
  readonly records: ReadonlyArray<Exported<typeof LogRecord.Type>>
  /** Every request: its path, its headers, and its body as it came. */
  readonly requests: ReadonlyArray<{
    readonly path: string
    readonly headers: Readonly<IncomingMessage["headers"]>
    readonly body: Buffer
  }>
}

/** The values of attributes, by their names. */
export const valuesOf = (attributes: typeof Attributes.Type): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/** Starts a collector, which ends with the scope. */
export const startCollector: Effect.Effect<OtlpCollector, never, Scope.Scope> = Effect.gen(function* () {
  const spans: Array<Exported<typeof Span.Type>> = []
  const records: Array<Exported<typeof LogRecord.Type>> = []
  const requests: Array<OtlpCollector["requests"][number]> = []
  const take = (path: string, text: string) => {
    if (path.endsWith("/v1/traces")) {
      for (const { resource, scopeSpans } of decodeTraces(text).resourceSpans)
        for (const { spans: some } of scopeSpans)
          for (const of of some) spans.push({ of, resource: valuesOf(resource.attributes) })
    } else {
      for (const { resource, scopeLogs } of decodeLogs(text).resourceLogs)
        for (const { logRecords } of scopeLogs)
          for (const of of logRecords) records.push({ of, resource: valuesOf(resource.attributes) })
    }
  }
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const sent = Buffer.concat(parts)
      const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent
      const { headers, url: path = "" } = request
      requests.push({ path, headers, body })
      if (headers["content-type"]?.includes("json") === true) take(path, body.toString("utf8"))
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  const port = yield* Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      // A server that listens on TCP has such an address.
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      }),
  )
  return { url: `http://127.0.0.1:${port}`, spans, records, requests }
})

import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"
import { unescape } from "node:querystring"
import { Duration, Effect, Layer, Option, Redacted, Tracer } from "effect"
import { Hex } from "effect/encoding"
import { UrlParams } from "effect/http"
import { OtlpExporter, OtlpLogger, OtlpSerialization, OtlpTracer } from "effect/observability"
import { version } from "../version.ts"
import type { Settings } from "../settings/Settings.ts"
import * as CollectorClient from "./CollectorClient.ts"
import { type EndpointChoice, endpointOf, type Signal } from "./endpoints.ts"

/** The last part of the nine seconds in which the server must stop. */
const FLUSH_WITHIN = Duration.seconds(2)

/** Where to send, and the credentials of the address, which fetch would refuse. */
const placeOf = ({ address, path }: EndpointChoice) => {
  const url = new URL(Redacted.value(address))
  const credentials = `${unescape(url.username)}:${unescape(url.password)}`
  url.username = ""
  url.password = ""
  if (path !== "") url.pathname = withoutTrailing(url.pathname, "/") + path
  const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`
  return { url: url.href, headers: credentials === ":" ? {} : { authorization } }
}

/** How to send a signal. A header of the settings replaces the credentials of the address. */
export const exporterOf = (settings: Settings, signal: Signal, endpoint: EndpointChoice) => {
  const headers = settings[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`] ?? settings.OTEL_EXPORTER_OTLP_HEADERS
  const given = Object.entries(headers === undefined ? {} : Redacted.value(headers))
  const place = placeOf(endpoint)
  return {
    url: place.url,
    headers: {
      ...place.headers,
      ...Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value])),
    },
    resource: resourceOf(settings),
    compression: settings.OTEL_EXPORTER_OTLP_COMPRESSION,
    shutdownTimeout: FLUSH_WITHIN,
  }
}

const resourceOf = ({ OTEL_RESOURCE_ATTRIBUTES: attributes = {}, OTEL_SERVICE_NAME: name }: Settings) => ({
  serviceName: name ?? attributes["service.name"] ?? "tocsin",
  serviceVersion: attributes["service.version"] ?? version,
  attributes,
})

/** The hex digits of a trace ID that decide: as many as a number represents exactly. */
const DIGITS = 13

const chanceOf = (traceId: string): number => Number.parseInt(traceId.slice(-DIGITS), 16) / 16 ** DIGITS

const ratioOf = ({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio }: Settings): number => {
  if (sampler.endsWith("always_on")) return 1
  return sampler.endsWith("always_off") ? 0 : ratio
}

/** Keeps the traces that OTEL_TRACES_SAMPLER chooses. The spans of a trace stay together. */
export const sampledTracer = (tracer: Tracer.Tracer, settings: Settings): Tracer.Tracer => {
  const ratio = ratioOf(settings)
  const followsParents = settings.OTEL_TRACES_SAMPLER.startsWith("parentbased_")
  const isSampled = (parent: Tracer.AnySpan | undefined): boolean => {
    // A span of this process is decided already; a caller's decision counts if the sampler says so.
    if (parent !== undefined && (parent._tag === "Span" || followsParents)) return parent.sampled
    return chanceOf(parent?.traceId ?? Hex.random(16)) < ratio
  }
  return Tracer.make({
    ...tracer,
    span: (options) => tracer.span({ ...options, sampled: isSampled(Option.getOrUndefined(options.parent)) }),
  })
}

const traces = (settings: Settings) => {
  const endpoint = endpointOf(settings, "TRACES")
  if (endpoint === undefined) return Layer.empty
  return Layer.effect(
    Tracer.Tracer,
    Effect.map(OtlpTracer.make(exporterOf(settings, "TRACES", endpoint)), (tracer) =>
      sampledTracer(tracer, settings),
    ),
  )
}

const logs = (settings: Settings) => {
  const endpoint = endpointOf(settings, "LOGS")
  return endpoint === undefined ? Layer.empty : OtlpLogger.layer(exporterOf(settings, "LOGS", endpoint))
}

/** Takes queries out of spans. Effect leaves out their values, but not a name without one, which may be a token. */
const withoutQueries = (data: OtlpTracer.TraceData): OtlpTracer.TraceData => {
  for (const { scopeSpans } of data.resourceSpans) {
    for (const { attributes } of scopeSpans.flatMap(({ spans }) => spans)) {
      const query = attributes.findIndex(({ key }) => key === "url.query")
      if (query === -1) continue
      attributes.splice(query, 1)
      const url = attributes.find(({ key }) => key === "url.full")
      if (url !== undefined) url.value = { stringValue: url.value.stringValue?.replace(/\?.*$/, "") ?? "" }
    }
  }
  return data
}

const serialization = ({ OTEL_EXPORTER_OTLP_PROTOCOL: protocol }: Settings) =>
  Layer.effect(
    OtlpSerialization.OtlpSerialization,
    Effect.map(OtlpSerialization.OtlpSerialization, (effects) => ({
      ...effects,
      traces: (data: OtlpTracer.TraceData) => effects.traces(withoutQueries(data)),
    })),
  ).pipe(
    Layer.provide(protocol === "http/json" ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf),
  )

/** Sends traces and logs to a collector, by OTLP over HTTP. */
export const layer = (settings: Settings): Layer.Layer<never> =>
  Layer.mergeAll(
    traces(settings),
    logs(settings),
    // The error of a failed span has the request's URL. Spans themselves are exported without queries.
    Layer.succeed(UrlParams.CurrentRedactedNames, [/^/]),
  ).pipe(Layer.provide([OtlpExporter.layerFlusher, CollectorClient.layer, serialization(settings)]))

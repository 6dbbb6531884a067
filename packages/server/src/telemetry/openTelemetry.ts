import { Duration, Effect, Layer, Redacted, Tracer } from "effect"
import { FetchHttpClient, UrlParams } from "effect/http"
import { OtlpExporter, OtlpLogger, OtlpSerialization, OtlpTracer } from "effect/observability"
import manifest from "../../package.json" with { type: "json" }
import type { Settings } from "../settings/Settings.ts"
import { type EndpointChoice, endpointOf, type Signal } from "./exports.ts"
import { sampledTracer } from "./sampledTracer.ts"

/** Of the nine seconds in which the server has to stop: what is left to send when all else has ended. */
const FLUSH_WITHIN = Duration.seconds(2)

const urlOf = ({ address, path }: EndpointChoice): string => {
  const url = new URL(Redacted.value(address))
  if (path !== "") url.pathname = url.pathname.replace(/\/+$/, "") + path
  return url.href
}

const exporterOf = (settings: Settings, signal: Signal, endpoint: EndpointChoice) => {
  const headers = settings[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`] ?? settings.OTEL_EXPORTER_OTLP_HEADERS
  return {
    url: urlOf(endpoint),
    headers: headers === undefined ? {} : Redacted.value(headers),
    resource: resourceOf(settings),
    compression: settings.OTEL_EXPORTER_OTLP_COMPRESSION,
    shutdownTimeout: FLUSH_WITHIN,
  }
}

const resourceOf = ({ OTEL_RESOURCE_ATTRIBUTES: attributes = {}, OTEL_SERVICE_NAME: name }: Settings) => ({
  serviceName: name ?? attributes["service.name"] ?? "tocsin",
  serviceVersion: attributes["service.version"] ?? manifest.version,
  attributes,
})

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

/** Sends traces and logs to a collector, by OTLP over HTTP, as the OTEL_ settings say. */
export const layer = (settings: Settings): Layer.Layer<never> =>
  Layer.mergeAll(
    traces(settings),
    logs(settings),
    // Whatever somebody puts into a query is nobody's business: names are told, values are not.
    Layer.succeed(UrlParams.CurrentRedactedNames, [/^/]),
  ).pipe(
    Layer.provide([
      OtlpExporter.layerFlusher,
      FetchHttpClient.layer,
      settings.OTEL_EXPORTER_OTLP_PROTOCOL === "http/json"
        ? OtlpSerialization.layerJson
        : OtlpSerialization.layerProtobuf,
    ]),
  )

import * as type from "./settingTypes.ts"

const { setting } = type

const exporter = (signal: string) =>
  setting(type.oneOf(["otlp", "none"]), `whether to send ${signal}, if they have an endpoint`, {
    fallback: "otlp",
  })

/**
 * OpenTelemetry's own settings, by the names that every SDK gives them (opentelemetry.io,
 * "Environment Variable Specification").
 */
export const telemetrySettings = {
  OTEL_SDK_DISABLED: setting(type.flag, "whether to send nothing, whatever else is set", {
    fallback: "false",
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    type.address,
    "collector for traces and logs; /v1/traces and /v1/logs are appended",
    { whenUnset: "none: nothing is sent" },
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting(type.address, "full address for traces", {
    whenUnset: "that of OTEL_EXPORTER_OTLP_ENDPOINT",
  }),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: setting(type.address, "full address for logs", {
    whenUnset: "that of OTEL_EXPORTER_OTLP_ENDPOINT",
  }),
  OTEL_EXPORTER_OTLP_HEADERS: setting(type.secretPairs, "headers to send, such as credentials", {
    whenUnset: "none",
  }),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: setting(type.secretPairs, "headers to send with traces", {
    whenUnset: "OTEL_EXPORTER_OTLP_HEADERS",
  }),
  OTEL_EXPORTER_OTLP_LOGS_HEADERS: setting(type.secretPairs, "headers to send with logs", {
    whenUnset: "OTEL_EXPORTER_OTLP_HEADERS",
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting(
    type.oneOf(["http/protobuf", "http/json"]),
    "encoding of traces and logs",
    { fallback: "http/protobuf" },
  ),
  OTEL_EXPORTER_OTLP_COMPRESSION: setting(type.oneOf(["gzip", "none"]), "compression of traces and logs", {
    fallback: "none",
  }),
  OTEL_TRACES_EXPORTER: exporter("traces"),
  OTEL_LOGS_EXPORTER: exporter("logs"),
  OTEL_TRACES_SAMPLER: setting(
    type.oneOf(
      [
        "always_on",
        "always_off",
        "traceidratio",
        "parentbased_always_on",
        "parentbased_always_off",
        "parentbased_traceidratio",
      ],
      "always_on, always_off or traceidratio, each also with parentbased_ before it",
    ),
    "which traces to send; parentbased_ follows the caller's decision, if the request carries one",
    { fallback: "parentbased_always_on" },
  ),
  OTEL_TRACES_SAMPLER_ARG: setting(type.fraction, "share of traces that traceidratio sends", {
    fallback: "1",
  }),
  OTEL_SERVICE_NAME: setting(
    type.word("a word of visible ASCII characters"),
    "name of this service in traces and logs",
    { whenUnset: "service.name of OTEL_RESOURCE_ATTRIBUTES, or tocsin" },
  ),
  OTEL_RESOURCE_ATTRIBUTES: setting(type.pairs, "further attributes of this service in traces and logs", {
    whenUnset: "none",
  }),
} as const

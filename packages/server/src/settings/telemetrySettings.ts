import { Schema } from "effect"
import { setting } from "./Setting.ts"
import { Flag, Fraction, KeyValues, SecretAddress, SecretKeyValues, Word } from "./values.ts"

const ADDRESS_TAKES = "a URL that begins with http:// or https://"
const PAIRS_TAKE = "pairs such as name=value, separated by commas, their values percent-encoded"

const endpoint = (meaning: string, whenUnset: string) =>
  setting({
    schema: SecretAddress,
    meaning,
    takes: ADDRESS_TAKES,
    fallback: undefined,
    whenUnset,
    isSecret: true,
  })

const headers = (meaning: string, whenUnset: string) =>
  setting({
    schema: SecretKeyValues,
    meaning,
    takes: PAIRS_TAKE,
    fallback: undefined,
    whenUnset,
    isSecret: true,
  })

const exporter = (signal: string) =>
  setting({
    schema: Schema.Literals(["otlp", "none"]),
    meaning: `whether ${signal} are sent, where there is an endpoint for them`,
    takes: "otlp or none",
    fallback: "otlp",
  })

/** OpenTelemetry's own settings, by the names that every SDK has for them (opentelemetry.io, "Environment Variable Specification"). */
export const telemetrySettings = {
  OTEL_SDK_DISABLED: setting({
    schema: Flag,
    meaning: "whether nothing is sent, whatever else is set",
    takes: "true or false",
    fallback: "false",
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(
    "collector that traces and logs are sent to; /v1/traces and /v1/logs are added",
    "none: nothing is sent",
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint(
    "whole address that traces are sent to",
    "that of OTEL_EXPORTER_OTLP_ENDPOINT",
  ),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: endpoint(
    "whole address that logs are sent to",
    "that of OTEL_EXPORTER_OTLP_ENDPOINT",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: headers("headers that are sent along, to authenticate for instance", "none"),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers("the same for traces", "OTEL_EXPORTER_OTLP_HEADERS"),
  OTEL_EXPORTER_OTLP_LOGS_HEADERS: headers("the same for logs", "OTEL_EXPORTER_OTLP_HEADERS"),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting({
    schema: Schema.Literals(["http/protobuf", "http/json"]),
    meaning: "how traces and logs are written",
    takes: "http/protobuf or http/json",
    fallback: "http/protobuf",
  }),
  OTEL_EXPORTER_OTLP_COMPRESSION: setting({
    schema: Schema.Literals(["gzip", "none"]),
    meaning: "whether what is sent is compressed",
    takes: "gzip or none",
    fallback: "none",
  }),
  OTEL_TRACES_EXPORTER: exporter("traces"),
  OTEL_LOGS_EXPORTER: exporter("logs"),
  OTEL_TRACES_SAMPLER: setting({
    schema: Schema.Literals([
      "always_on",
      "always_off",
      "traceidratio",
      "parentbased_always_on",
      "parentbased_always_off",
      "parentbased_traceidratio",
    ]),
    meaning: "which traces are sent; parentbased_ does as the caller did, where a request says so",
    takes: "always_on, always_off or traceidratio, each also with parentbased_ before it",
    fallback: "parentbased_always_on",
  }),
  OTEL_TRACES_SAMPLER_ARG: setting({
    schema: Fraction,
    meaning: "the share of traces that traceidratio sends",
    takes: "a number from 0 to 1",
    fallback: "1",
  }),
  OTEL_SERVICE_NAME: setting({
    schema: Word,
    meaning: "what this service is called in traces and logs",
    takes: "a word of visible ASCII characters",
    fallback: undefined,
    whenUnset: "service.name of OTEL_RESOURCE_ATTRIBUTES, or tocsin",
  }),
  OTEL_RESOURCE_ATTRIBUTES: setting({
    schema: KeyValues,
    meaning: "what else is told of this service in traces and logs",
    takes: PAIRS_TAKE,
    fallback: undefined,
    whenUnset: "none",
  }),
} as const

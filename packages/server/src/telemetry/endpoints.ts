import type { Redacted } from "effect"
import type { Settings } from "../settings/Settings.ts"

/** A signal for a collector. Metrics are read from /metrics instead. */
export type Signal = "TRACES" | "LOGS"

/** Where to send a signal; `undefined` if it is off. */
export const endpointOf = (settings: Settings, signal: Signal): EndpointChoice | undefined => {
  if (settings.OTEL_SDK_DISABLED || settings[`OTEL_${signal}_EXPORTER`] === "none") return undefined
  const own = settings[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]
  if (own !== undefined) return { address: own, path: "" }
  const base = settings.OTEL_EXPORTER_OTLP_ENDPOINT
  return base && { address: base, path: `/v1/${signal.toLowerCase()}` }
}

export interface EndpointChoice {
  readonly address: Redacted.Redacted
  readonly path: string
}

/** Whether anything goes to a collector. */
export const exportsTelemetry = (settings: Settings): boolean =>
  endpointOf(settings, "TRACES") !== undefined || endpointOf(settings, "LOGS") !== undefined

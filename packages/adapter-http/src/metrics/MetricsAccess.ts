import type { Redacted } from "effect"

/** Who may read the metrics: everyone, or who knows one of the operators' tokens or of these. */
export type MetricsAccess = "open" | { readonly tokens: ReadonlyArray<Redacted.Redacted> }

import type { Redacted } from "effect"

/** Who may read the metrics: everyone, or who knows one of the operators' tokens or this one. */
export type MetricsAccess = "open" | { readonly token?: Redacted.Redacted | undefined }

import type { CheckStatus, Severity } from "../contract/Status.ts"

/** Severities by rank: critical > unknown > warning (docs/rules.md#incidents). Stored as numbers where rows are ordered by them. */
export const SEVERITY_RANK: Readonly<Record<Severity, number>> = { warning: 1, unknown: 2, critical: 3 }

/** The severity that a check's status means to its incident; `undefined` when it is ok. */
export const severityOf = (status: CheckStatus): Severity | undefined =>
  status === "ok" ? undefined : status

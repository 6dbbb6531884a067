import type { Confirmation as ConfirmedBy } from "@tocsin/contract/confirmResult"
import type { ProbeConfig } from "../probes/Probe.ts"
import type { PemFile } from "./PemFile.ts"

/** The work of a check's run. */
export type Work =
  | { readonly kind: "command"; readonly argv: ReadonlyArray<string> }
  | { readonly kind: "probe"; readonly probe: ProbeConfig }

/** How many results in a row confirm a change of status, and how soon they come. */
export interface Confirmation extends ConfirmedBy {
  /** How soon an unconfirmed check runs again. */
  readonly everyMillis: number
}

/** The common fields of every check. */
interface CheckTerms {
  readonly id: string
  readonly incidentKey: string | undefined
  readonly notificationsEnabled: boolean
  readonly graceMillis: number | undefined
  readonly severity: "warning" | "critical" | "unknown" | undefined
  readonly labels: ReadonlyMap<string, string>
}

/** A check that the agent runs. */
export interface RunCheck extends CheckTerms {
  readonly kind: "run"
  readonly work: Work
  readonly everyMillis: number
  readonly timeoutMillis: number
  readonly env: ReadonlyMap<string, string>
  readonly confirm: Confirmation | undefined
}

/** A check whose results come from `report` and `run`. */
export interface ReportedCheck extends CheckTerms {
  readonly kind: "reported"
  readonly schedule: { readonly everyMillis: number } | { readonly cron: string; readonly tz: string }
}

export type CheckConfig = RunCheck | ReportedCheck

/** A whole configuration, with defaults filled in. */
export interface AgentConfig {
  readonly servers: ReadonlyArray<string>
  /** The authorities to trust. */
  readonly ca: PemFile | undefined
  /** The token by which the server accepts this agent without an operator. */
  readonly enrolmentToken: string | undefined
  readonly agentId: string
  readonly hostname: string
  readonly labels: ReadonlyMap<string, string>
  readonly maxParallel: number
  readonly metricsPort: number | undefined
  readonly checks: ReadonlyMap<string, CheckConfig>
}

/** How many checks there are, in words. */
export const checksText = (count: number): string => (count === 1 ? "1 check" : `${count} checks`)

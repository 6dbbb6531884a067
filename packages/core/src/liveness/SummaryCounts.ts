/** The counts of the summary; pending agents are neither online nor offline. */
export interface SummaryCounts {
  readonly agents_online: number
  readonly agents_offline: number
  readonly checks_ok: number
  readonly checks_warning: number
  readonly checks_critical: number
  readonly checks_unknown: number
  readonly open_incidents: number
}

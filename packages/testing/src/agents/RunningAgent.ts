/** Where an agent works. */
export interface AgentPlace {
  /** The address of the server. */
  readonly url: string
  readonly agentId: string
  /** The folder of its state, which outlives a restart. */
  readonly folder: string
}

/** The statuses of results. */
export type ReportedStatus = "ok" | "warning" | "critical" | "unknown"

/** An agent at work. */
export interface RunningAgent {
  /** Takes a result; resolves once the agent must not lose it. */
  readonly report: (checkId: string, status: ReportedStatus, text: string) => Promise<void>
  /** Makes the agent try again, where it waits to be called: the next run of a cron job. */
  readonly nudge?: () => Promise<void>
  /** Ends the agent in any way. */
  readonly stop: () => Promise<void>
}

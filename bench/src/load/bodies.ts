import { CHECK_NUMBERS } from "./Load.ts"

/** The parts that differ between requests; each has a fixed width. */
export interface Variables {
  readonly agentId: string
  readonly time: string
  /** Six digits that make each output new. */
  readonly micros: string
  /** The first 18 characters of each event's id. */
  readonly idPrefix: string
}

/** A heartbeat's body, of the size that a small agent sends. */
export const heartbeatBody = ({ agentId, time }: Variables): string =>
  JSON.stringify({
    agent_id: agentId,
    observed_at: time,
    hostname: `${agentId}.site.example.org`,
    features: { push: true, metrics: false },
    labels: { service_agent_version: "1.0.0", os: "linux", site: "north", role: "web" },
  })

/** The body of a batch: one result of each check, all with one status. */
export const resultsBody = (
  { agentId, time, micros, idPrefix }: Variables,
  status: "ok" | "critical",
): string =>
  JSON.stringify({
    agent_id: agentId,
    events: CHECK_NUMBERS.map((check, index) => ({
      event_id: `${idPrefix}-8000-${String(index).padStart(12, "0")}`,
      check_id: `check-${check}`,
      observed_at: time,
      status,
      exit_code: status === "ok" ? 0 : 2,
      duration_ms: 12,
      output: `PING ${status.toUpperCase()} - packet loss 0%, RTA 0.${micros} ms`,
    })),
  })

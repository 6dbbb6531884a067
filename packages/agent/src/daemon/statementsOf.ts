import process from "node:process"
import { type AgentConfig, type CheckConfig, OWN_CHECK_ID } from "../config/readConfig.ts"
import { durationText } from "@tocsin/contract/formats/durationMillis"
import { acceptedPeriod, type ExpectedCheckText } from "@tocsin/reporting/agent/Schedule"
import type { Statements } from "@tocsin/reporting/agent/Sender"
import { AGENT_VERSION } from "@tocsin/reporting/agent/version"

/** A server with default settings refuses less: its stale threshold and 30 s. */
const SHORTEST_AFTER_MILLIS = 150_000
const OWN_PERIOD_MILLIS = 60_000

/** A check as it is declared to the server; its incident only where the server's default is another. */
const declared = (check: CheckConfig, jobs: ReadonlySet<string>): ExpectedCheckText => {
  const usual = check.kind === "reported" && check.schedule !== undefined ? "own" : "agent"
  const incident = check.incident ?? (check.kind === "reported" && jobs.has(check.id) ? "own" : usual)
  return { ...described(check), ...(incident !== usual && { incident }) }
}

const described = (check: CheckConfig): ExpectedCheckText => ({
  check_id: check.id,
  ...terms(check),
  ...(check.severity !== undefined && { severity: check.severity }),
  ...(check.labels.size > 0 && { labels: Object.fromEntries(check.labels) }),
  ...(!check.notificationsEnabled && { notifications_enabled: false }),
})

/** How long an unconfirmed change may keep a check from reporting. */
const quietMillis = (check: CheckConfig): number => {
  if (check.kind !== "run" || check.confirm === undefined) return 0
  const { bad, good, everyMillis } = check.confirm
  return (Math.max(bad, good) - 1) * Math.min(everyMillis, check.everyMillis)
}

const terms = (check: CheckConfig): Omit<ExpectedCheckText, "check_id"> => {
  const grace = check.graceMillis
  if (check.kind === "reported" && check.schedule !== undefined)
    return { ...check.schedule, ...(grace !== undefined && { grace: durationText(grace) }) }
  const period = acceptedPeriod(check.everyMillis + quietMillis(check))
  // A job that reports once in a period has its grace after the period; the server has a default.
  const after = grace === undefined ? undefined : Math.max(SHORTEST_AFTER_MILLIS, period + grace)
  return { every: durationText(period), ...(after !== undefined && { after: durationText(after) }) }
}

const MOST_LABELS = 32

/** The labels of the agent. The version of its time zones is left out where an agent has no room for it. */
const labelsOf = ({ labels }: AgentConfig): Readonly<Record<string, string>> => {
  const stated = { ...Object.fromEntries(labels), service_agent_version: AGENT_VERSION }
  const { tz } = process.versions
  return tz === undefined || labels.size > MOST_LABELS - 2 ? stated : { ...stated, service_agent_tz: tz }
}

/** The agent's statements about itself, by its configuration and the checks that `tocsin-agent run` has reported. */
export const statementsOf = (config: AgentConfig, jobs: ReadonlySet<string>): Statements => ({
  agentId: config.agentId,
  servers: config.servers,
  heartbeat: {
    hostname: config.hostname,
    features: { push: true, metrics: config.metricsPort !== undefined },
    labels: labelsOf(config),
  },
  isList: true,
  expected: [
    ...[...config.checks.values()].map((check) => declared(check, jobs)),
    { check_id: OWN_CHECK_ID, every: durationText(OWN_PERIOD_MILLIS) },
  ],
})

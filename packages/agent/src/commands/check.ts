import { type AgentConfig, type CheckConfig, checksText, readConfig } from "../config/readConfig.ts"
import { problemText } from "../config/Reader.ts"
import { durationText } from "@tocsin/contract/durationMillis"
import { warningsOf } from "../config/warningsOf.ts"
import { complain, print, readOptions, withoutArguments } from "./commandLine.ts"

/**
 * `tocsin-agent check`: reports every problem of the configuration, and warns of what is probably wrong;
 * `--print` shows it with defaults.
 */
export const check = async (argv: ReadonlyArray<string>): Promise<number> => {
  const { config: file, state, print: isPrinted } = withoutArguments(readOptions(argv, ["print"]))
  const { config, problems } = readConfig(file)
  if (config === undefined) {
    for (const problem of problems) complain(problemText(problem))
    return 1
  }
  const warnings = warningsOf(config, state)
  for (const warning of warnings) complain(`warning: ${warning}`)
  if (isPrinted) {
    const { stringify } = await import("yaml")
    print(stringify(printable(config)).trimEnd())
  } else print(`${file}: ${checksText(config.checks.size)}, no problems`)
  return 0
}

const printable = (config: AgentConfig): object => ({
  server: config.servers,
  ...(config.ca !== undefined && { ca_file: config.ca }),
  agent_id: config.agentId,
  hostname: config.hostname,
  labels: Object.fromEntries(config.labels),
  max_parallel: config.maxParallel,
  ...(config.metricsPort !== undefined && { metrics_port: config.metricsPort }),
  checks: Object.fromEntries([...config.checks].map(([id, one]) => [id, printableCheck(one)])),
})

const printableCheck = (one: CheckConfig): object => ({
  ...(one.kind === "reported" ? { report_only: true, ...scheduleOf(one.schedule) } : runOf(one)),
  ...(one.incidentKey !== undefined && { incident_key: one.incidentKey }),
  notifications_enabled: one.notificationsEnabled,
  ...(one.graceMillis !== undefined && { grace: durationText(one.graceMillis) }),
  ...(one.severity !== undefined && { severity: one.severity }),
})

const scheduleOf = (schedule: Extract<CheckConfig, { readonly kind: "reported" }>["schedule"]): object =>
  "cron" in schedule ? schedule : { every: durationText(schedule.everyMillis) }

const runOf = (one: Extract<CheckConfig, { readonly kind: "run" }>): object => ({
  ...(one.work.kind === "command"
    ? { command: one.work.argv, ...(one.env.size > 0 && { env: Object.fromEntries(one.env) }) }
    : { [one.work.probe.name]: printableSettings(one.work.probe.settings) }),
  every: durationText(one.everyMillis),
  timeout: durationText(one.timeoutMillis),
  ...(one.confirm !== undefined && {
    confirm: { bad: one.confirm.bad, good: one.confirm.good, every: durationText(one.confirm.everyMillis) },
  }),
})

/** Durations are kept in milliseconds, and maps by name. */
const printableSettings = (settings: object): object =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]: [string, unknown]) => [
      name,
      name === "wait" && typeof value === "number" ? durationText(value) : value,
    ]),
  )

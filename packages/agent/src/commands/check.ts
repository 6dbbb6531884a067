import { durationText } from "@tocsin/contract/formats/durationMillis"
import { type AgentConfig, type CheckConfig, checksText, type RunCheck } from "../config/readConfig.ts"
import { warningsOf } from "../config/warningsOf.ts"
import { complain, loadConfig, print, readOptions, withoutArguments } from "./commandLine.ts"

/**
 * `tocsin-agent check`: reports every problem of the configuration, and warns of what is probably wrong;
 * `--print` shows it with defaults.
 */
export const check = async (argv: ReadonlyArray<string>): Promise<number> => {
  const { config: file, state, print: isPrinted } = withoutArguments(readOptions(argv, ["print"]))
  const config = loadConfig(file)
  if (config === undefined) return 1
  for (const warning of warningsOf(config, state)) complain(`warning: ${warning}`)
  if (isPrinted) {
    const { stringify } = await import("yaml")
    print(stringify(printable(config)).trimEnd())
  } else print(`${file}: ${checksText(config.checks.size)}, no problems`)
  return 0
}

/** As the configuration writes it: YAML leaves out keys without a value. */
const printable = (config: AgentConfig): object => ({
  server: config.servers,
  ca_file: config.ca,
  agent_id: config.agentId,
  hostname: config.hostname,
  labels: Object.fromEntries(config.labels),
  max_parallel: config.maxParallel,
  metrics_port: config.metricsPort,
  place: config.place,
  checks: Object.fromEntries([...config.checks].map(([id, one]) => [id, printableCheck(one)])),
})

const duration = (millis: number | undefined) => (millis === undefined ? undefined : durationText(millis))

const printableCheck = (one: CheckConfig): object => ({
  ...(one.kind === "run"
    ? workOf(one)
    : { report_only: true, ...(one.schedule ?? { every: durationText(one.everyMillis) }) }),
  labels: one.labels.size > 0 ? Object.fromEntries(one.labels) : undefined,
  incident_key: one.incidentKey,
  notifications_enabled: one.notificationsEnabled,
  grace: duration(one.graceMillis),
  severity: one.severity,
  incident: one.incident,
})

const workOf = ({ work, env, everyMillis, timeoutMillis, confirm, numbers }: RunCheck): object => ({
  ...(work.kind === "command"
    ? { command: work.argv, env: env.size > 0 ? Object.fromEntries(env) : undefined }
    : { [work.probe.name]: printableSettings(work.probe.settings) }),
  every: durationText(everyMillis),
  timeout: durationText(timeoutMillis),
  confirm: confirm && { bad: confirm.bad, good: confirm.good, every: durationText(confirm.everyMillis) },
  numbers,
})

/** Durations are kept in milliseconds. */
const printableSettings = (settings: { readonly wait?: number }): object => ({
  ...settings,
  ...(settings.wait !== undefined && { wait: durationText(settings.wait) }),
})

import { EXIT_CODES } from "@tocsin/contract/checks/exitCodes"
import type { CheckState } from "@tocsin/reporting/agent/ResultQueue"
import { AGENT_VERSION } from "@tocsin/reporting/agent/version"
import { createServer, type Server } from "node:http"
import process from "node:process"
import type { SelfState } from "./selfReport.ts"

interface MetricsState {
  readonly own: SelfState
  readonly states: ReadonlyMap<string, CheckState>
  readonly notes: ReadonlyMap<string, string>
}

/** One value, one for each set of labels, or none. */
type Samples = number | undefined | Readonly<Record<string, number>>

const metric = (type: "gauge" | "counter") => (help: string, samples: (state: MetricsState) => Samples) => ({
  type,
  help,
  samples,
})
const gauge = metric("gauge")
const counter = metric("counter")

const seconds = (millis: number): number => millis / 1_000
const counted = ({ notes }: MetricsState, name: string): number => Number(notes.get(name) ?? 0)

const METRICS: Readonly<Record<string, ReturnType<typeof gauge>>> = {
  tocsin_agent_info: gauge("The versions of the agent and of its time zones; always 1.", () => ({
    [`version="${AGENT_VERSION}",tz="${process.versions["tz"] ?? ""}"`]: 1,
  })),
  tocsin_agent_checks: gauge("Checks of the configuration.", ({ own }) => own.checks),
  tocsin_agent_backlog_results: gauge("Results that the server has not taken.", ({ own }) => own.backlog),
  tocsin_agent_backlog_oldest_seconds: gauge(
    "Age of the oldest result that the server has not taken.",
    ({ own: { now, oldestAt = now } }) => seconds(Math.max(0, now - oldestAt)),
  ),
  tocsin_agent_dropped_results_total: counter(
    "Results that were dropped because the spool was full or they were too old.",
    (state) => ({
      'kind="change"': counted(state, "dropped_changes"),
      'kind="repeat"': counted(state, "dropped_repeats"),
    }),
  ),
  tocsin_agent_rejected_results_total: counter("Results that the server refused for good.", (state) =>
    counted(state, "rejected"),
  ),
  tocsin_agent_spool_damaged_total: counter("Damaged spools that were set aside.", (state) =>
    counted(state, "damaged"),
  ),
  tocsin_agent_spool_on_disk: gauge(
    "1 while the disk takes results, 0 while they wait in memory.",
    ({ own }) => (own.isOnDisk ? 1 : 0),
  ),
  tocsin_agent_stuck_checks: gauge(
    "Checks with processes that cannot be killed.",
    ({ own }) => own.stuck.length,
  ),
  tocsin_agent_clock_offset_seconds: gauge(
    "How far the clock is ahead of the server's; absent before the first answer.",
    ({ own: { offset } }) => offset && seconds(offset),
  ),
  tocsin_agent_check_status: gauge(
    "The last reported status of each check: 0 ok, 1 warning, 2 critical, 3 unknown.",
    // The pattern of check IDs has nothing to escape.
    ({ states }) =>
      Object.fromEntries([...states].map(([id, { status }]) => [`check="${id}"`, EXIT_CODES[status]])),
  ),
}

/** The page of metrics in the text format of Prometheus. */
export const metricsPage = (state: MetricsState): string =>
  Object.entries(METRICS)
    .map(([name, { type, help, samples }]) => {
      const found = samples(state) ?? {}
      const lines =
        typeof found === "number"
          ? [`${name} ${found}\n`]
          : Object.entries(found).map(([labels, value]) => `${name}{${labels}} ${value}\n`)
      return lines.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`
    })
    .join("")

const SLOWEST_REQUEST_MILLIS = 5_000

/** Answers `GET /metrics` on the loopback address. */
export const metricsServer = (page: () => string, log: (message: string) => void) => {
  let server: Server | undefined
  let current: number | undefined
  const close = (): void => {
    server?.closeAllConnections()
    server?.close()
    server = undefined
    current = undefined
  }
  /** Listens on this port, or on none. A port that cannot be had is reported and stops nothing. */
  const listen = (port: number | undefined): void => {
    if (port === current) return
    close()
    current = port
    if (port === undefined) return
    const made = createServer((request, response) => {
      if (request.url !== "/metrics") return void response.writeHead(404).end("see /metrics\n")
      if (!["GET", "HEAD"].includes(request.method ?? "")) return void response.writeHead(405).end()
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(page())
    })
    made.requestTimeout = SLOWEST_REQUEST_MILLIS
    made.on("error", ({ message }) => {
      log(`cannot serve metrics on port ${port}: set metrics_port to a free one (${message})`)
      // The next reload tries again.
      if (server === made) current = undefined
    })
    made.listen(port, "127.0.0.1")
    server = made
  }
  return { listen, close }
}

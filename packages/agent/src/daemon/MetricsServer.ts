import type { CheckState } from "@tocsin/reporting/agent/ResultQueue"
import { AGENT_VERSION } from "@tocsin/reporting/agent/version"
import { createServer, type Server } from "node:http"
import type { SelfState } from "./selfReport.ts"

/** The state that the metrics show. */
interface MetricsState {
  readonly own: SelfState
  readonly states: ReadonlyMap<string, CheckState>
  /** Counters of the spool. */
  readonly notes: ReadonlyMap<string, string>
}

interface Sample {
  readonly labels?: string
  readonly value: number
}

interface Metric {
  readonly name: string
  readonly type: "gauge" | "counter"
  readonly help: string
  readonly samples: (state: MetricsState) => ReadonlyArray<Sample>
}

const MILLIS_PER_SECOND = 1_000
const STATUS_VALUES: Readonly<Record<CheckState["status"], number>> = {
  ok: 0,
  warning: 1,
  critical: 2,
  unknown: 3,
}

const counter =
  (name: string, labels?: string) =>
  ({ notes }: MetricsState): Sample => ({
    ...(labels !== undefined && { labels }),
    value: Number(notes.get(name) ?? 0),
  })

const METRICS: ReadonlyArray<Metric> = [
  {
    name: "tocsin_agent_info",
    type: "gauge",
    help: "The version of the agent; always 1.",
    samples: () => [{ labels: `version="${AGENT_VERSION}"`, value: 1 }],
  },
  {
    name: "tocsin_agent_checks",
    type: "gauge",
    help: "Checks of the configuration.",
    samples: ({ own }) => [{ value: own.checks }],
  },
  {
    name: "tocsin_agent_backlog_results",
    type: "gauge",
    help: "Results that the server has not taken.",
    samples: ({ own }) => [{ value: own.backlog }],
  },
  {
    name: "tocsin_agent_backlog_oldest_seconds",
    type: "gauge",
    help: "Age of the oldest result that the server has not taken.",
    samples: ({ own }) => [
      {
        value: own.oldestAt === undefined ? 0 : Math.max(0, own.now - own.oldestAt) / MILLIS_PER_SECOND,
      },
    ],
  },
  {
    name: "tocsin_agent_dropped_results_total",
    type: "counter",
    help: "Results that were dropped because the spool was full or they were too old.",
    samples: (state) => [
      counter("dropped_changes", 'kind="change"')(state),
      counter("dropped_repeats", 'kind="repeat"')(state),
    ],
  },
  {
    name: "tocsin_agent_rejected_results_total",
    type: "counter",
    help: "Results that the server refused for good.",
    samples: (state) => [counter("rejected")(state)],
  },
  {
    name: "tocsin_agent_spool_damaged_total",
    type: "counter",
    help: "Damaged spools that were set aside.",
    samples: (state) => [counter("damaged")(state)],
  },
  {
    name: "tocsin_agent_spool_on_disk",
    type: "gauge",
    help: "1 while the disk takes results, 0 while they wait in memory.",
    samples: ({ own }) => [{ value: own.isOnDisk ? 1 : 0 }],
  },
  {
    name: "tocsin_agent_stuck_checks",
    type: "gauge",
    help: "Checks with processes that cannot be killed.",
    samples: ({ own }) => [{ value: own.stuck.length }],
  },
  {
    name: "tocsin_agent_clock_offset_seconds",
    type: "gauge",
    help: "How far the clock is ahead of the server's; absent before the first answer.",
    samples: ({ own }) => (own.offset === undefined ? [] : [{ value: own.offset / MILLIS_PER_SECOND }]),
  },
  {
    name: "tocsin_agent_check_status",
    type: "gauge",
    help: "The last reported status of each check: 0 ok, 1 warning, 2 critical, 3 unknown.",
    // The pattern of check IDs has nothing to escape.
    samples: ({ states }) =>
      [...states].map(([id, { status }]) => ({ labels: `check="${id}"`, value: STATUS_VALUES[status] })),
  },
]

/** The page of metrics in the text format of Prometheus. */
export const metricsPage = (state: MetricsState): string =>
  METRICS.map(({ name, type, help, samples }) => {
    const lines = samples(state).map(
      ({ labels, value }) => `${name}${labels === undefined ? "" : `{${labels}}`} ${value}\n`,
    )
    return lines.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`
  }).join("")

const SLOWEST_REQUEST_MILLIS = 5_000

/** Answers `GET /metrics` on the loopback address. */
export class MetricsServer {
  readonly #page: () => string
  readonly #log: (message: string) => void
  #server: Server | undefined
  #port: number | undefined

  constructor(page: () => string, log: (message: string) => void) {
    this.#page = page
    this.#log = log
  }

  /** Listens on this port, or on none. A port that cannot be had is reported and stops nothing. */
  listen(port: number | undefined): void {
    if (port === this.#port) return
    this.close()
    this.#port = port
    if (port === undefined) return
    const server = createServer((request, response) => {
      if (request.url !== "/metrics") return void response.writeHead(404).end("see /metrics\n")
      if (!["GET", "HEAD"].includes(request.method ?? "")) return void response.writeHead(405).end()
      response
        .writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" })
        .end(this.#page())
    })
    server.requestTimeout = SLOWEST_REQUEST_MILLIS
    server.on("error", ({ message }) => {
      this.#log(`cannot serve metrics on port ${port}: set metrics_port to a free one (${message})`)
      // The next reload tries again.
      if (this.#server === server) this.#port = undefined
    })
    server.listen(port, "127.0.0.1")
    this.#server = server
  }

  close(): void {
    this.#server?.closeAllConnections()
    this.#server?.close()
    this.#server = undefined
    this.#port = undefined
  }
}

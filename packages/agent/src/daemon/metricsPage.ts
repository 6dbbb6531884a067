import type { CheckState } from "@tocsin/reporting/agent/ResultQueue"
import { AGENT_VERSION } from "@tocsin/reporting/agent/version"
import type { SelfState } from "./selfReport.ts"

/** The state that the metrics show. */
export interface MetricsState {
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

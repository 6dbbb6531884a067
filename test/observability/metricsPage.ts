import type { MetricDefinition } from "@tocsin/core/metrics/MetricDefinition"
import { metricSubjects } from "@tocsin/core/metrics/metricDefinitions"

const HEAD = `# Metrics

Made from \`packages/core/src/metrics/metricDefinitions.ts\` by \`node scripts/renderMetrics.ts\`: change that file, not this one.

A server tells its metrics at \`/metrics\`, in Prometheus' text format. Beside them stand, in this repository:

- [\`deploy/prometheus/prometheus.yml\`](../deploy/prometheus/prometheus.yml): how Prometheus scrapes it;
- [\`deploy/prometheus/tocsin.rules.yml\`](../deploy/prometheus/tocsin.rules.yml): alert rules, each with a runbook in [operations.md](operations.md), and their unit tests
  (\`promtool test rules tocsin.rules.test.yml\`);
- [\`deploy/grafana/tocsin.json\`](../deploy/grafana/tocsin.json): a dashboard to import (Dashboards → New → Import), which asks for the data source.

Traces and logs are another page: [traces-and-logs.md](traces-and-logs.md).

## Set it up

Tocsin gets a token for it by \`SERVICE_METRICS_TOKEN_FILE\`, and Prometheus the same one. Where Prometheus came from a package:

\`\`\`sh elsewhere
openssl rand -hex 32 > tocsin-token
sudo install -m 640 -g prometheus tocsin-token /etc/prometheus/tocsin-token
sudo install -m 644 deploy/prometheus/tocsin.rules.yml /etc/prometheus/tocsin.rules.yml
\`\`\`

Take the line of \`rule_files\` and the job \`tocsin\` from \`deploy/prometheus/prometheus.yml\` into \`/etc/prometheus/prometheus.yml\`; servers of another database get a job of their own whose name begins with \`tocsin\`: the alert rules tell installations apart by the job (and the namespace), and TocsinDown looks for those names. Then:

\`\`\`sh elsewhere
promtool check config /etc/prometheus/prometheus.yml
sudo systemctl reload prometheus
curl -s --data-urlencode 'query=up{job="tocsin"}' http://127.0.0.1:9090/api/v1/query
\`\`\`

A value of \`"1"\` means that Tocsin is scraped. Try an alert: two minutes after Tocsin is stopped, TocsinDown fires at \`http://127.0.0.1:9090/alerts\`. Prometheus hands alerts to its own Alertmanager (\`alerting\` in
its configuration), so they arrive while Tocsin is down too.

## Who may read them

| \`SERVICE_METRICS_TOKEN\` | \`/metrics\` takes |
| --- | --- |
| unset | a token of \`SERVICE_AUTH_TOKEN\` or \`SERVICE_READ_TOKEN\` |
| a token | that one too; it opens nothing else |
| \`open\` | no token: for networks that only Prometheus reaches |

The token is a bearer token (\`authorization.credentials_file\` in Prometheus). Without it the answer is 401, as everywhere in the API. A program that embeds Tocsin
turns \`/metrics\` on with the option \`metrics\` of \`createMonitor\`.

## How to read them

- What is counted is counted since the process started, by each process for itself: add replicas up (\`sum\`).
- State (agents, checks, incidents, notifications) is read from the storage at a scrape, which every replica does: take the greatest (\`max\`). Scrapes within a second share one
  reading. While the storage is away these metrics are absent, \`tocsin_storage_up\` is 0, and all others are told.
- Labels have few values: routes are templates such as \`/api/v1/agents/:agent_id\`, or \`unmatched\` where there is nothing; no metric names an agent, a check or an incident.
- Counts of what may grow without bound stop at 10000. Notifications that are sent or discarded are not among them: \`tocsin_notifier_attempts_total\` counts them.
- An agent is dead here once it has a heartbeat incident, up to 15 s after its time.
- The time of an agent's request runs from its whole body to its answer, that of others from their headers.
`

const typeOf = ({ type, buckets }: MetricDefinition): string =>
  type === "histogram" ? `histogram, ${buckets[0]} to ${buckets.at(-1)}` : type

const rowOf = (definition: MetricDefinition): string => {
  const labels = definition.labels.map((label) => `\`${label}\``).join(", ")
  return `| \`${definition.name}\` | ${typeOf(definition)} | ${labels} | ${definition.help} |`
}

/** The page docs/metrics.md, from the definitions that the code follows. */
export const metricsPage = (): string => {
  const tables = metricSubjects.map(
    ({ title, definitions }) => `
## ${title}

| metric | type | labels | what it is |
| --- | --- | --- | --- |
${Object.values<MetricDefinition>(definitions).map(rowOf).join("\n")}
`,
  )
  return [HEAD, ...tables].join("")
}

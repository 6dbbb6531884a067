import { Instruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import type { MetricDefinition } from "@tocsin/core/kernel/engine/metrics/Counters"
import { metricSubjects } from "./metricSubjects.ts"
import { metricTables } from "@tocsin/core/lists/metricTables"

const HEAD = `# Metrics

This page is generated from \`packages/core/src/lists/metricTables.ts\` and the definitions in adapters
(\`test/observability/metricSubjects.ts\` lists them). Change those, then run \`node scripts/renderMetrics.ts\`.

A server serves its metrics at \`/metrics\` in Prometheus' text format. The repository contains:

| file | use |
| --- | --- |
| [\`deploy/prometheus/prometheus.yml\`](../deploy/prometheus/prometheus.yml) | a scrape configuration |
| [\`deploy/prometheus/tocsin.rules.yml\`](../deploy/prometheus/tocsin.rules.yml) | alert rules, each with a runbook in [Alerts](alerts.md). Run their unit tests with \`promtool test rules tocsin.rules.test.yml\` |
| [\`deploy/grafana/tocsin.json\`](../deploy/grafana/tocsin.json) | a dashboard: import it with Dashboards → New → Import, and choose the data source. \`tocsin-checks.json\` beside it draws [checks](numbers-elsewhere.md) |

For traces and logs, see [Traces and logs](traces-and-logs.md).

## Set up Prometheus

These steps are for a Prometheus installed from a package.

1. Create a token, and install it with the alert rules:

   \`\`\`sh elsewhere
   openssl rand -hex 32 > tocsin-token
   sudo install -m 640 -g prometheus tocsin-token /etc/prometheus/tocsin-token
   sudo install -m 644 deploy/prometheus/tocsin.rules.yml /etc/prometheus/tocsin.rules.yml
   \`\`\`

2. Give Tocsin a copy of the token that its own user can read, and set \`SERVICE_METRICS_TOKEN_FILE\`
   to it. Only Prometheus can read the copy above. With the [systemd unit](install/systemd.md):

   \`\`\`sh elsewhere
   sudo install -D -m 600 tocsin-token /etc/tocsin/secrets/metrics_token
   sudo install -d /etc/systemd/system/tocsin.service.d
   sudo tee /etc/systemd/system/tocsin.service.d/metrics.conf >/dev/null <<'END'
   [Service]
   LoadCredential=metrics_token:/etc/tocsin/secrets/metrics_token
   Environment=SERVICE_METRICS_TOKEN_FILE=%d/metrics_token
   END
   sudo systemctl daemon-reload
   sudo systemctl restart tocsin
   rm tocsin-token
   \`\`\`

3. Copy the line of \`rule_files\` and the job \`tocsin\` from \`deploy/prometheus/prometheus.yml\` to
   \`/etc/prometheus/prometheus.yml\`, and the job \`tocsin-checks\` if the server has
   [metrics of checks](numbers-elsewhere.md): for one server of each database. Give the servers of each further
   database a job of their own, with a name that begins with \`tocsin\`: the alert rules distinguish
   installations by job and namespace.

4. Check the configuration, reload it, and query Prometheus. A value of \`"1"\` means that it scrapes Tocsin.

   \`\`\`sh elsewhere
   promtool check config /etc/prometheus/prometheus.yml
   sudo systemctl reload prometheus
   curl -s --data-urlencode 'query=up{job="tocsin"}' http://127.0.0.1:9090/api/v1/query
   \`\`\`

5. Test an alert: stop Tocsin. After two minutes TocsinDown fires at \`http://127.0.0.1:9090/alerts\`.

Prometheus sends alerts to its own Alertmanager (\`alerting\` in its configuration), so they arrive
while Tocsin is down.

## Access

| \`SERVICE_METRICS_TOKEN\` | \`/metrics\` accepts |
| --- | --- |
| unset | a token of \`SERVICE_AUTH_TOKEN\` or \`SERVICE_READ_TOKEN\` |
| a token | that token as well; it grants nothing else |
| \`open\` | every request: only for networks that Prometheus alone reaches |

Send the token as a bearer token (\`authorization.credentials_file\` in Prometheus). Without a valid
one, Tocsin answers 401. In the library, enable \`/metrics\` with \`createMonitor\`'s option \`metrics\`.

## Interpretation

| metrics | meaning |
| --- | --- |
| counters and histograms | each process counts for itself, from its start: add replicas up (\`sum\`). |
| state (agents, checks, incidents, notifications) | every replica reads it from the storage at a scrape: take the maximum (\`max\`). Scrapes within a second share one reading |
| while the storage is unreachable | the state metrics are absent, \`tocsin_storage_up\` is 0, and all others are present |
| labels | have few values. Routes are templates such as \`/api/v1/agents/:agent_id\`, or \`unmatched\`. No metric names an agent, a check or an incident |
| \`notifier\` | is the kind of a receiver: the receivers of one kind share their metrics |
| unbounded counts | stop at 10000. They exclude notifications that were sent or discarded: \`tocsin_notifier_attempts_total\` counts those |
| dead agents | an agent counts as dead once it has a heartbeat incident, up to 15 s after its threshold |
| request duration | runs to the answer, from an agent's whole body, or from the headers of any other request |
`

const typeOf = ({ type, buckets }: MetricDefinition): string =>
  type === "histogram" ? `histogram, ${buckets[0]} to ${buckets.at(-1)}` : type

const counted = new Instruments(metricTables).read()

/** The values of a metric's only label that are there before anything has happened. */
export const valuesOf = (name: string): ReadonlyArray<string> => {
  const { readings = [] } = counted.find(({ definition }) => definition.name === name) ?? {}
  return readings.flatMap(({ labels }) => labels)
}

const rowOf = (definition: MetricDefinition): string => {
  const names = definition.labels.map((label) => `\`${label}\``).join(", ")
  const values = valuesOf(definition.name).map((value) => `\`${value}\``)
  const labels = values.length === 0 ? names : `${names}: ${values.join(", ")}`
  return `| \`${definition.name}\` | ${typeOf(definition)} | ${labels} | ${definition.help} |`
}

const isOurs = ({ name }: MetricDefinition): boolean => name.startsWith("tocsin_")

/** Metrics that any process of Node.js may have, whose names say what they are: a list below the table. */
const sentenceOn = (definitions: ReadonlyArray<MetricDefinition>): string =>
  definitions.length === 0
    ? ""
    : `\nAnd these of the process and of Node.js, which \`/metrics\` explains:\n\n- ${["process", "nodejs"]
        .map((prefix) => definitions.filter(({ name }) => name.startsWith(prefix)))
        .map((those) => those.map(({ name }) => `\`${name}\``).join(", "))
        .join("\n- ")}\n`

/** The page docs/metrics.md, from the definitions that the code follows. */
export const metricsPage = (): string => {
  const tables = Object.entries(metricSubjects).map(
    ([title, definitions]) => `
## ${title}

| metric | type | labels | meaning |
| --- | --- | --- | --- |
${definitions.filter(isOurs).map(rowOf).join("\n")}
${sentenceOn(definitions.filter((definition) => !isOurs(definition)))}`,
  )
  return [HEAD, ...tables].join("")
}

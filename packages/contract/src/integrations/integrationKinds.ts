/** An integration with its new key, as the API answers it. */
export interface Made {
  readonly kind: string
  readonly options: {
    readonly methods?: ReadonlyArray<string> | undefined
    readonly schedule?: string | undefined
  }
  readonly urls: ReadonlyArray<string>
  readonly key: string
}

/** A line to paste into a sender, and what it is. */
export type SenderLine = readonly [what: string, text: string]

/** How people meet a kind of integration. */
interface IntegrationKindTexts {
  /** The senders that speak its protocol. */
  readonly senders: string
  /** Options, as an example of how to write them. */
  readonly options: string
  /** Where the key is in a request whose path has none: in the header Authorization unless stated. */
  readonly keyAt?: string
  /** The lines to paste into a sender beside the addresses: they use the first of these. */
  readonly lines?: (address: string, made: Made) => ReadonlyArray<SenderLine>
}

/** The end of a crontab line: it reports how its command ended. Without a schedule, what is expected stays. */
const cronText = (address: string, { options: { methods, schedule = "" } }: Made): string => {
  const method = methods === undefined || methods.includes("GET") ? "" : ` -X ${methods[0]}`
  return `; curl -fsS -m 10 --retry 3 -o /dev/null${method} "${address}/$?${schedule === "" ? "" : `?${schedule}`}"`
}

/** The lines that a Prometheus needs: of its configuration, and of a file of rules. */
const prometheusLines = (address: string, { key }: Made): ReadonlyArray<SenderLine> => {
  const [, scheme, host, path] = /^(https?):\/\/([^/]+)(.*)$/u.exec(address) ?? []
  return [
    [
      "prometheus.yml",
      `# prometheus.yml
alerting:
  alertmanagers:
    - scheme: ${scheme}
      path_prefix: ${path}
      authorization: {credentials: ${key}}
      static_configs: [{targets: ["${host}"]}]`,
    ],
    [
      "rules",
      `# a file of rules: one that always fires, for the option watchdog
groups:
  - name: watchdog
    rules: [{alert: Watchdog, expr: vector(1), labels: {severity: none}}]`,
    ],
  ]
}

/** A line for a shell, and the part of NCPA's configuration. */
const nrdpLines = (address: string, { key }: Made): ReadonlyArray<SenderLine> => [
  ["send_nrdp.sh", `send_nrdp.sh -u ${address} -t ${key} -H HOST -s SERVICE -S 0 -o "all is well"`],
  ["ncpa.cfg", `[nrdp]\nparent = ${address}\ntoken = ${key}`],
]

/** A request as Icinga documents it. */
const icingaLines = (address: string, { key }: Made): ReadonlyArray<SenderLine> => [
  [
    "curl",
    `curl -fsS -u icinga:${key} "${address}/v1/actions/process-check-result?service=HOST!SERVICE" -d '{"exit_status": 0, "plugin_output": "all is well", "ttl": 3600}'`,
  ],
]

/** The kinds of integrations that senders report to (docs/rules.md#requests-of-senders). */
export const INTEGRATION_KINDS = {
  ping: {
    senders: "cron jobs, curl, Healthchecks",
    options: '{"check": "backup", "schedule": "every=1d&after=26h"}',
    lines: (address, made) => [["end of a line in a crontab", cronText(address, made)]],
  },
  push: { senders: "Uptime Kuma", options: '{"check": "web"}' },
  alertmanager: {
    senders: "Prometheus, vmalert, Loki, Grafana",
    options: '{"watchdog": "Watchdog", "repeats": false}',
    lines: prometheusLines,
  },
  webhook: {
    senders: "Alertmanager, Grafana, other JSON",
    options: '{"map": {"check": "/name", "status": "/status"}}',
  },
  nrdp: {
    senders: "Nagios, NCPA, send_nrdp",
    options: '{"max_checks": 500}',
    keyAt: "as the token",
    lines: nrdpLines,
  },
  icinga: {
    senders: "clients of Icinga's API",
    options: '{"max_checks": 500}',
    lines: icingaLines,
  },
  pagerduty: {
    senders: "senders of PagerDuty, such as Alertmanager, Grafana, Uptime Kuma",
    options: '{"severity": {"info": "ignore"}, "acknowledged_for": "4h"}',
    keyAt: "as the routing_key",
    lines: (address, { key }) => [
      [
        "alertmanager.yml",
        `# alertmanager.yml
receivers:
  - name: tocsin
    pagerduty_configs: [{url: "${address}", routing_key: ${key}}]`,
      ],
    ],
  },
  opsgenie: {
    senders: "senders of Opsgenie, such as Alertmanager, Grafana, Zabbix",
    options: '{"heartbeat_after": "5m", "acknowledged_for": "4h"}',
    lines: (address, { key }) => [
      [
        "alertmanager.yml",
        `# alertmanager.yml
global:
  opsgenie_api_url: ${address}/
  opsgenie_api_key: ${key}`,
      ],
      ["Grafana's alert API URL, and Zabbix' opsgenie_api", `${address}/v2/alerts`],
    ],
  },
  sentry: {
    senders: "cron monitors of Sentry's SDKs",
    options: '{"max_checks": 500}',
    lines: (address) => [["SENTRY_DSN", `SENTRY_DSN=${address.replace("://", "://tocsin@")}`]],
  },
  monit: {
    senders: "Monit",
    options: '{"max_checks": 500}',
    lines: (address, { key }) => [
      [
        "monitrc",
        `set mmonit ${address.replace("://", `://monit:${key}@`)}\n  and register without credentials`,
      ],
    ],
  },
  mail: {
    senders: "devices and programs that send mail",
    options: '{"rules": [{"match": {"subject": "Backup of * failed"}, "check": "backup $1"}]}',
  },
} as const satisfies Readonly<Record<string, IntegrationKindTexts>>

export type IntegrationKindName = keyof typeof INTEGRATION_KINDS

// The names of a constant are its keys.
export const integrationKindNames = Object.keys(INTEGRATION_KINDS) as ReadonlyArray<IntegrationKindName>

/** The kinds whose senders make requests under `/in`. */
export type RequestKindName = Exclude<IntegrationKindName, "mail">
export const requestKindNames = integrationKindNames.filter(
  (name): name is RequestKindName => name !== "mail",
)

export const integrationKind = (name: string): IntegrationKindTexts | undefined =>
  Object.entries(INTEGRATION_KINDS).find(([each]) => each === name)?.[1]

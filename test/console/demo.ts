import { PROCESS_FIELD } from "@tocsin/contract/v1/processField"
import { OPERATOR_TOKEN } from "../processes/api.ts"

/** Names an element however long it grows, the same at every run. */
const uuid = (number: number): string => `01900000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`

interface Result {
  readonly check_id: string
  readonly status: "ok" | "warning" | "critical" | "unknown"
  readonly output: string
  /** How long ago it was observed; now unless given. */
  readonly minutesAgo?: number
  readonly incident_key?: string
  readonly notifications_enabled?: boolean
}

/** The API of a running server, as agents and an operator call it. */
export class DemoClient {
  readonly baseUrl: string
  readonly #token: string
  #sent = 0

  constructor(baseUrl: string, token: string = OPERATOR_TOKEN) {
    this.baseUrl = baseUrl
    this.#token = token
  }

  /** Calls the API; fails unless it is answered with success. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    token: string = this.#token,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<unknown> {
    const answer = await fetch(`${this.baseUrl}/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...fields },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }

  heartbeat(
    agent_id: string,
    options: {
      readonly hostname?: string
      readonly labels?: Readonly<Record<string, string>>
      readonly key?: string
      /** The ID of its process. */
      readonly process?: string
    } = {},
  ): Promise<unknown> {
    const {
      hostname = `${agent_id}.example`,
      labels,
      process,
      key = `key-of-${agent_id}-0123456789`,
    } = options
    const body = {
      agent_id,
      observed_at: new Date().toISOString(),
      hostname,
      features: { push: true, metrics: false },
      ...(labels !== undefined && { labels }),
    }
    return this.call(
      "POST",
      "api/v1/heartbeat",
      body,
      key,
      process === undefined ? {} : { [PROCESS_FIELD]: process },
    )
  }

  /** Creates an operator. Returns the token. */
  async addOperator(name: string, role: "read" | "respond" | "admin"): Promise<string> {
    const made = await this.call("POST", "ops/v1/operators", { name, role })
    // The answer of the API.
    return (made as { readonly token: string }).token
  }

  /** Registers an agent and accepts it. */
  async join(agent_id: string, labels?: Readonly<Record<string, string>>): Promise<void> {
    await this.heartbeat(agent_id, labels === undefined ? {} : { labels })
    await this.call("POST", `api/v1/agents/${agent_id}/accept`)
  }

  /** Declares checks of an agent that must report. */
  declare(agent_id: string, checks: ReadonlyArray<object>): Promise<unknown> {
    return this.declareAll(agent_id, { checks })
  }

  /** The same, as a list of all its checks. */
  declareAll(agent_id: string, declared: object): Promise<unknown> {
    return this.call(
      "PUT",
      `ops/v1/agents/${agent_id}/expectations`,
      declared,
      `key-of-${agent_id}-0123456789`,
    )
  }

  /** Reports results in batches as large as the API takes. */
  async report(agent_id: string, results: ReadonlyArray<Result>): Promise<void> {
    for (let from = 0; from < results.length; from += 200) {
      const events = results.slice(from, from + 200).map(({ minutesAgo = 0, status, ...result }) => ({
        ...result,
        status,
        event_id: uuid((this.#sent += 1)),
        observed_at: new Date(performance.timeOrigin + performance.now() - minutesAgo * 60_000).toISOString(),
        exit_code: ["ok", "warning", "critical", "unknown"].indexOf(status),
        duration_ms: 12,
      }))
      await this.call("POST", "api/v1/events", { agent_id, events }, `key-of-${agent_id}-0123456789`)
    }
  }
}

const HOSTS = [
  ["web-1", "shop", "prod"],
  ["web-2", "shop", "prod"],
  ["web-3", "shop", "prod"],
  ["api-1", "shop", "prod"],
  ["api-2", "shop", "prod"],
  ["db-1", "data", "prod"],
  ["db-2", "data", "prod"],
  ["queue-1", "data", "prod"],
  ["cache-1", "data", "prod"],
  ["mail-1", "office", "prod"],
  ["backup-1", "office", "prod"],
  ["web-staging", "shop", "staging"],
] as const

const FINE: Readonly<Record<string, string>> = {
  cpu: "CPU OK - 12% busy",
  disk: "DISK OK - /var 41% used",
  load: "LOAD OK - 0.31, 0.28, 0.25",
  memory: "MEMORY OK - 3.1 of 8.0 GB used",
  ntp: "NTP OK - offset 0.4 ms",
}

/** Changes of the last weeks, so that histories have something to show. */
const historyOf = (seed: number): ReadonlyArray<Result> =>
  Array.from({ length: 14 }, (_, index): Result => {
    const status = index % 2 === 1 ? "ok" : index % 6 === 4 ? "critical" : "warning"
    const hours = (14 - index) * 47 - ((seed * 7 + index * 11) % 23) + (index % 2 === 0 ? 12 : 0)
    return {
      check_id: "disk",
      status,
      output:
        status === "ok"
          ? (FINE["disk"] ?? "")
          : `DISK ${status.toUpperCase()} - /var ${81 + seed + index}% used`,
      minutesAgo: hours * 60,
      notifications_enabled: false,
    }
  })

const DAY_MINUTES = 1_440
const VOLUME = "/var/lib/postgresql"

/** A volume that fills in ten days and is cleaned up, with a backup each night: by the hour, and lately in 5 minutes. */
const volumeOverWeeks = (): ReadonlyArray<Result> => {
  const usedAt = (ago: number) => {
    const backup = Math.exp(-((((ago % DAY_MINUTES) - 420) / 70) ** 2))
    return 57.7 + (30 * ((71_900 - ago) % 14_400)) / 14_400 + 2.1 * backup + 0.2 * Math.sin(ago / 37)
  }
  const hours = Array.from({ length: 28 * 24 }, (_, hour) => (30 * 24 - hour) * 60)
  const lately = Array.from({ length: (2 * DAY_MINUTES) / 5 }, (_, span) => 2 * DAY_MINUTES - span * 5 - 3)
  return [...hours, ...lately].map((ago) => {
    const used = usedAt(ago)
    const status = used >= 88 ? "warning" : "ok"
    return {
      check_id: "disk",
      status,
      output: `DISK ${status.toUpperCase()} - ${VOLUME} ${used.toFixed(0)}% used|${VOLUME}=${used.toFixed(1)}%;88;95;0;100`,
      minutesAgo: ago,
      notifications_enabled: false,
    }
  })
}

/** A share that follows the hours of work, measured every 10 minutes of the last day, the newest last. */
const dayOf = (check_id: string, seed: number): ReadonlyArray<Result> =>
  Array.from({ length: 145 }, (_, step) => {
    const ago = (144 - step) * 10
    const busy =
      34 + seed * 2 + 21 * Math.cos((ago / DAY_MINUTES) * 2 * Math.PI) + 4 * Math.sin(ago / 23 + seed)
    return {
      check_id,
      status: "ok",
      output: `${check_id.toUpperCase()} OK - ${busy.toFixed(0)}% busy|busy=${busy.toFixed(1)}%;85;95;0;100`,
      minutesAgo: ago,
    }
  })

/** When checks were not ok lately: how many minutes ago that began and ended, if it has ended. */
const LATELY = [
  ["web-1", "http", "critical", 700, 640],
  ["web-2", "http", "critical", 700, 655],
  ["web-3", "http", "warning", 690, 665],
  ["db-1", "replication", "warning", 190, 1],
  ["mail-1", "queue", "warning", 1_290, 1_180],
  ["mail-1", "queue", "warning", 340, 1],
  ["cache-1", "memory", "warning", 840, 610],
  ["queue-1", "load", "warning", 460, 380],
] as const

const pastOf = (agent: string): ReadonlyArray<Result> =>
  LATELY.filter(([host]) => host === agent).flatMap(([, check_id, status, began, ended]) => {
    const quiet = { check_id, notifications_enabled: false }
    const fine = { ...quiet, status: "ok", output: FINE[check_id] ?? `${check_id.toUpperCase()} OK` } as const
    return [
      { ...fine, minutesAgo: 20 * DAY_MINUTES },
      {
        ...quiet,
        status,
        output: `${check_id.toUpperCase()} ${status.toUpperCase()} - slow`,
        minutesAgo: began,
      },
      { ...fine, minutesAgo: ended },
    ]
  })

/** Fills a server with a small company on a bad morning, for screenshots and for looking around. */
export const fillDemo = async (demo: DemoClient): Promise<void> => {
  for (const [index, [host, team, env]] of HOSTS.entries()) {
    await demo.join(host, { team, env, site: index % 2 === 0 ? "berlin" : "lisbon" })
    await demo.report(host, host === "db-1" ? volumeOverWeeks() : historyOf(index))
    await demo.report(
      host,
      Object.entries(FINE).flatMap(([check_id, output]) =>
        check_id === "disk"
          ? []
          : [{ check_id, status: "ok" as const, output, minutesAgo: (20 + index) * DAY_MINUTES }],
      ),
    )
    await demo.report(host, dayOf("cpu", index))
    await demo.report(host, pastOf(host))
    await demo.report(
      host,
      Object.entries(FINE).flatMap(([check_id, output]) =>
        check_id === "cpu" || (host === "db-1" && check_id === "disk")
          ? []
          : [{ check_id, status: "ok" as const, output }],
      ),
    )
  }
  const shared = { check_id: "http", incident_key: "shop-checkout" } as const
  for (const host of ["web-1", "web-2", "web-3"])
    await demo.report(host, [
      {
        ...shared,
        status: "critical",
        output: "HTTP CRITICAL - checkout answers 502 after 10.0 s\ncurl: (22) 502",
      },
    ])
  await demo.report("db-1", [
    {
      check_id: "replication",
      status: "critical",
      output: "REPLICATION CRITICAL - 412 s behind the primary",
    },
    {
      check_id: "disk",
      status: "warning",
      output: `DISK WARNING - ${VOLUME} 88% used, full in 4 days|${VOLUME}=88.2%;88;95;0;100`,
    },
  ])
  await demo.report("mail-1", [
    { check_id: "queue", status: "warning", output: "QUEUE WARNING - 1,204 messages wait for delivery" },
  ])
  await demo.report("backup-1", [
    { check_id: "nightly", status: "unknown", output: "BACKUP UNKNOWN - the last run left no report" },
  ])
  await demo.report("cache-1", [
    { check_id: "memory", status: "critical", output: "MEMORY CRITICAL - 7.9 of 8.0 GB used" },
  ])
  await demo.report("cache-1", [{ check_id: "memory", status: "ok", output: FINE["memory"] ?? "" }])
  await demo.heartbeat("edge-1", { labels: { site: "oslo" } })
  await demo.heartbeat("edge-2", { labels: { site: "oslo" } })
  await demo.heartbeat("web-3", { key: "another-key-of-web-3-0123456789" })
  const kim = await demo.addOperator("kim", "respond")
  await demo.addOperator("grafana", "read")
  const { items } = (await demo.call("GET", "ops/v1/incidents?state=open")) as {
    readonly items: ReadonlyArray<{ readonly id: string; readonly incident_key: string }>
  }
  const idOf = (key: string) => items.find(({ incident_key }) => incident_key === key)?.id ?? ""
  const note = "The provider throttles us; their ticket is 4711."
  const acknowledgement = `ops/v1/incidents/${idOf("mail-1/queue")}/acknowledgement`
  await demo.call("PUT", acknowledgement, { note, for: "4h" }, kim)
  const text = "Payments answers 502 since the deployment at 08:55. Rolling back."
  await demo.call("POST", `ops/v1/incidents/${idOf("shop-checkout")}/notes`, { text }, kim)
  const matchers = [{ field: "agent_id", op: "=", value: "web-staging" }]
  const comment = "Load test of the new checkout"
  await demo.call("POST", "ops/v1/silences", { matchers, for: "3h", comment }, kim)
  const starts_at = new Date(performance.timeOrigin + performance.now() + 20 * 3_600_000).toISOString()
  const ends_at = new Date(Date.parse(starts_at) + 2 * 3_600_000).toISOString()
  const planned = [
    { field: "label:team", op: "=", value: "data" },
    { field: "check_id", op: "glob", value: "repl*" },
  ]
  const move = "The replica moves to its new host"
  await demo.call("POST", "ops/v1/silences", { matchers: planned, starts_at, ends_at, comment: move }, kim)
  for (const [name, kind, options] of [
    ["backup", "ping", { check: "nightly" }],
    ["prometheus", "alertmanager", { watchdog: "Watchdog" }],
  ])
    await demo.call("POST", "ops/v1/integrations", { name, kind, options })
  for (const [name, path] of [
    ["shop", "api/v1/health"],
    ["api", "openapi.json"],
  ])
    await demo.call("POST", "ops/v1/watches", {
      name,
      every: "10s",
      http: { url: `${demo.baseUrl}/${path}` },
      confirm: { good: 1, bad: 1 },
    })
}

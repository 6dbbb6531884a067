// Requests as senders make them that are not installed here. Each names the page or source that it follows.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { addIntegration, OPERATOR_TOKEN, operate } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"

interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

const openServer = Effect.gen(function* () {
  const cwd = yield* scratchFolder
  return yield* startServer({ cwd, environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN } })
})

const send = (server: ServerProcess, { method = "POST", path, headers = {}, body }: Sent) =>
  Effect.promise(async () => {
    const answer = await fetch(`${server.baseUrl}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    })
    return `${answer.status} ${await answer.text()}`
  })

interface Check {
  readonly check_id: string
  readonly status: string
  readonly summary?: string
  readonly labels: Readonly<Record<string, string>>
}

const checksOf = Effect.fnUntraced(function* (server: ServerProcess, agent: string) {
  const { text } = yield* operate(server, "GET", `/ops/v1/checks?agent_id=${agent}&limit=500`)
  return (JSON.parse(text) as { readonly items: ReadonlyArray<Check> }).items
})

const statusesOf = (server: ServerProcess, agent: string) =>
  Effect.map(checksOf(server, agent), (checks) =>
    Object.fromEntries(
      checks.map(({ check_id, status }) => [check_id.replace(/\.[0-9a-f]{12}$/, ""), status]),
    ),
  )

describe("a documented sender", () => {
  it.live("runitor: a start, then the exit code with the output", () =>
    Effect.gen(function* () {
      const server = yield* openServer
      const key = yield* addIntegration(server, { kind: "ping", name: "cron" })
      // github.com/bdd/runitor, internal/api.go and cmd/runitor/main.go: -api-url …/in/ping -ping-key KEY -slug backup
      const ping = (path: string, body?: string) =>
        send(server, {
          path: `/in/ping/${key}/backup/${path}`,
          headers: {
            "content-type": "text/plain",
            "user-agent": "runitor/1.3.0 (+https://bdd.fi/x/runitor)",
          },
          body,
        })
      assert.strictEqual(yield* ping("start"), "200 OK")
      assert.strictEqual(yield* ping("0", "12 GiB copied\n"), "200 OK")
      assert.deepStrictEqual(yield* statusesOf(server, "cron"), { backup: "ok" })
      const output = `${"x".repeat(9_000)}\n[runitor] exit status 3\n[runitor] Output truncated to last 10000 bytes.`
      assert.strictEqual(yield* ping("3?create=1", output), "200 OK")
      const [check] = yield* checksOf(server, "cron")
      assert.strictEqual(check?.status, "critical")
    }),
  )

  it.live("borgmatic: start, finish, fail and log, with logs of 100,000 bytes", () =>
    Effect.gen(function* () {
      const server = yield* openServer
      const key = yield* addIntegration(server, { kind: "ping", name: "borg" })
      // torsion.org/borgmatic, hooks/monitoring/healthchecks.py: ping_url: …/in/ping/KEY/home
      const ping = (path: string, body: string) =>
        send(server, {
          path: `/in/ping/${key}/home${path}`,
          headers: { "content-type": "", "user-agent": "python-requests/2.32.3", accept: "*/*" },
          body,
        })
      const logs = "INFO: a line of borg's own log, with äöü\n".repeat(2_500).slice(0, 99_000)
      assert.strictEqual(yield* ping("/start", ""), "200 OK")
      const explained = yield* operate(server, "GET", "/ops/v1/explain?agent_id=borg&check_id=home")
      assert.match(
        explained.text,
        /"reasons":\["It began .{19} UTC, and is to end by .{19} UTC\.","It must report[^"]+"\]/,
      )
      assert.strictEqual(yield* ping("", logs), "200 OK")
      assert.deepStrictEqual(yield* statusesOf(server, "borg"), { home: "ok" })
      assert.strictEqual(yield* ping("/start?create=1", ""), "200 OK")
      assert.strictEqual(yield* ping("/log", "CRITICAL: disk full"), "200 OK")
      const error = "ERROR: Command 'borg create' returned 2"
      assert.strictEqual(yield* ping("/fail", error), "200 OK")
      const [check] = yield* checksOf(server, "borg")
      assert.deepStrictEqual(
        [check?.status, check?.summary],
        ["critical", `failed: ${error}\nCRITICAL: disk full\n${error}`],
      )
    }),
  )

  it.live("Grafana: its webhook fires and resolves", () =>
    Effect.gen(function* () {
      const server = yield* openServer
      const key = yield* addIntegration(server, { kind: "webhook", name: "grafana" })
      // grafana.com/docs/grafana/latest/alerting: Webhook notifier; github.com/grafana/alerting, receivers/webhook/v1.
      const alert = (name: string, status: string) => ({
        status,
        labels: { alertname: name, grafana_folder: "Production", team: "blue", zone: "us-1" },
        annotations: { description: "more than 90 % for 5 minutes", summary: `${name} in us-1` },
        startsAt: "2026-10-12T09:51:03.157076+02:00",
        endsAt: status === "resolved" ? "2026-10-12T10:01:03.157076+02:00" : "0001-01-01T00:00:00Z",
        generatorURL: "https://grafana.example/alerting/1afz29v7z/edit?orgId=1",
        fingerprint: "c6eadffa33fcdf37",
        silenceURL: "https://grafana.example/alerting/silence/new?alertmanager=grafana&orgId=1",
        dashboardURL: "",
        panelURL: "",
        values: { B: 94.2394, C: 1 },
        valueString: "[ var='B' labels={zone=us-1} value=94.2 ]",
        orgId: 1,
      })
      const post = (...alerts: ReadonlyArray<object>) =>
        send(server, {
          path: "/in/webhook",
          headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
          body: JSON.stringify({
            receiver: "tocsin",
            status: "firing",
            orgId: 1,
            alerts,
            groupLabels: {},
            commonLabels: { team: "blue" },
            commonAnnotations: {},
            externalURL: "https://grafana.example/",
            appVersion: "12.2.0",
            version: "1",
            groupKey: "{}:{}",
            truncatedAlerts: 0,
            title: "[FIRING:2]  (blue)",
            state: "alerting",
            message: "**Firing**\n\nLabels:\n - alertname = Memory\n",
          }),
        })
      assert.strictEqual(yield* post(alert("Memory", "firing"), alert("High CPU", "firing")), "200 ")
      assert.deepStrictEqual(yield* statusesOf(server, "grafana"), {
        High_CPU: "critical",
        Memory: "critical",
      })
      assert.strictEqual(yield* post(alert("Memory", "resolved"), alert("High CPU", "firing")), "200 ")
      assert.deepStrictEqual(yield* statusesOf(server, "grafana"), { High_CPU: "critical", Memory: "ok" })
    }),
  )

  it.live("Grafana: its contact point Alertmanager, with Basic authentication", () =>
    Effect.gen(function* () {
      const server = yield* openServer
      const key = yield* addIntegration(server, {
        kind: "alertmanager",
        name: "grafana",
        options: { repeats: false },
      })
      // github.com/grafana/alerting, receivers/alertmanager/v1: Prometheus' alert with the fields of its Go type.
      const post = (endsAt: string) =>
        send(server, {
          path: "/in/alertmanager/api/v2/alerts",
          headers: {
            "content-type": "application/json",
            authorization: `Basic ${Buffer.from(`tocsin:${key}`).toString("base64")}`,
          },
          body: JSON.stringify([
            {
              labels: { __alert_rule_uid__: "ffk3168", alertname: "Latency", grafana_folder: "Shop" },
              annotations: { __orgId__: "1", __value_string__: "[ var='A' value=2 ]", summary: "p99 is 2 s" },
              startsAt: "2026-10-12T07:51:03.157Z",
              endsAt,
              generatorURL: "https://grafana.example/alerting/grafana/ffk3168/view?orgId=1",
              UpdatedAt: "2026-10-12T07:51:04.001Z",
              Timeout: false,
            },
          ]),
        })
      assert.strictEqual(yield* post("0001-01-01T00:00:00Z"), "200 ")
      const [check] = yield* checksOf(server, "grafana")
      assert.deepStrictEqual(
        [check?.status, check?.summary],
        ["critical", "p99 is 2 s\nstarted 2026-10-12 07:51:03 UTC"],
      )
      assert.strictEqual(yield* post("2026-10-12T08:01:03Z"), "200 ")
      assert.deepStrictEqual(yield* statusesOf(server, "grafana"), { Latency: "ok" })
    }),
  )

  it.live("Prometheus: batches of 256 alerts with the labels of a Kubernetes cluster", () =>
    Effect.gen(function* () {
      const server = yield* openServer
      const key = yield* addIntegration(server, {
        kind: "alertmanager",
        name: "cluster",
        options: { group_by: ["alertname"] },
      })
      // github.com/prometheus/prometheus, notifier: at most 256 alerts a request; labels of kube-state-metrics.
      const alertOf = (pod: number, batch: number) => ({
        labels: {
          alertname: "KubePodCrashLooping",
          cluster: "prod-eu-1",
          container: "app",
          endpoint: "http",
          instance: "10.42.3.17:8080",
          job: "kube-state-metrics",
          namespace: `team-${pod % 12}`,
          pod: `shop-${batch}-7c9d8b6f5-${pod.toString(36).padStart(5, "x")}`,
          prometheus: "monitoring/k8s",
          reason: "CrashLoopBackOff",
          service: "kube-state-metrics",
          severity: "warning",
          uid: `2f4a8f0e-8a55-4b0e-9b0c-${(batch * 256 + pod).toString(16).padStart(12, "0")}`,
        },
        annotations: {
          description: `Pod team-${pod % 12}/shop (app) is in waiting state (reason: "CrashLoopBackOff") on cluster prod-eu-1.`,
          runbook_url: "https://runbooks.prometheus-operator.dev/runbooks/kubernetes/kubepodcrashlooping",
          summary: "Pod is crash looping.",
        },
        startsAt: "2026-10-12T07:51:03.157Z",
        endsAt: new Date(Date.now() + 240_000).toISOString(),
        generatorURL: "https://prometheus.example/graph?g0.expr=max_over_time%28kube_pod%5B5m%5D%29&g0.tab=1",
      })
      for (const batch of [0, 1]) {
        const body = JSON.stringify(Array.from({ length: 256 }, (_, pod) => alertOf(pod, batch)))
        const headers = { "content-type": "application/json", authorization: `Bearer ${key}` }
        assert.strictEqual(
          yield* send(server, { path: "/in/alertmanager/api/v2/alerts", headers, body }),
          "200 ",
        )
      }
      const { text } = yield* operate(server, "GET", "/api/v1/incidents?state=open")
      const { items } = JSON.parse(text) as { readonly items: ReadonlyArray<{ readonly severity: string }> }
      assert.deepStrictEqual(
        items.map(({ severity }) => severity),
        ["warning"],
      )
      const checks = yield* checksOf(server, "cluster")
      assert.strictEqual(checks.length, 500)
      assert.isTrue(checks.every(({ labels, status }) => status === "warning" && labels["pod"] !== undefined))
    }),
  )
})

// A real Alertmanager whose addresses of Opsgenie and PagerDuty were changed to ours.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { addIntegration, OPERATOR_TOKEN, operate } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { startProgram } from "./Prometheus.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const PROGRAM = programPath("prometheus-alertmanager") ?? "prometheus-alertmanager"
const why = lacking("prometheus-alertmanager")

const listed = <Row>(server: ServerProcess, path: string) =>
  Effect.map(
    operate(server, "GET", path),
    ({ text }) => (JSON.parse(text) as { readonly items: ReadonlyArray<Row> }).items,
  )

interface Shown {
  readonly agent_id: string
  readonly status: string
  readonly summary?: string
  readonly labels: Readonly<Record<string, string>>
}

const shows = (server: ServerProcess, status: string, text: string) =>
  until(
    `both checks are ${status} with ${text}`,
    Effect.map(
      listed<Shown>(server, "/ops/v1/checks"),
      (checks) =>
        checks.length === 2 &&
        checks.every((each) => each.status === status && (each.summary ?? "").includes(text)),
    ),
    "4 minutes",
  )

const startAlertmanager = Effect.fnUntraced(function* (
  to: number,
  keys: Readonly<Record<"opsgenie" | "pagerduty", string>>,
) {
  const folder = yield* scratchFolder
  const file = join(folder, "alertmanager.yml")
  const receiver = {
    name: "tocsin",
    opsgenie_configs: [{ priority: "P1", tags: "team:db", update_alerts: true, send_resolved: true }],
    pagerduty_configs: [{ routing_key: keys.pagerduty, severity: "critical", group: "db" }],
  }
  const global = {
    opsgenie_api_url: `http://127.0.0.1:${to}/in/opsgenie/`,
    opsgenie_api_key: keys.opsgenie,
    pagerduty_url: `http://127.0.0.1:${to}/in/pagerduty/v2/enqueue`,
  }
  const route = { receiver: "tocsin", group_by: ["job"], group_wait: "0s", group_interval: "1s" }
  writeFileSync(file, JSON.stringify({ global, route, receivers: [receiver] }))
  const port = yield* Effect.promise(freePort)
  yield* startProgram(PROGRAM, [
    `--config.file=${file}`,
    `--storage.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--cluster.listen-address=",
  ])
  const post = (alerts: ReadonlyArray<object>) =>
    Effect.promise(() =>
      fetch(`http://127.0.0.1:${port}/api/v2/alerts`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(alerts),
      }).then(
        ({ status }) => status,
        () => 0,
      ),
    )
  return (...alerts: ReadonlyArray<object>) =>
    until(
      "the Alertmanager takes alerts",
      Effect.map(post(alerts), (status) => status === 200),
      "20 seconds",
    )
})

describe("a real Alertmanager with its Opsgenie and its PagerDuty", () => {
  it.live.skipIf(why !== undefined)(
    `pages, updates, leaves an operator's acknowledgement, and resolves${skippedFor(why)}`,
    () =>
      Effect.gen(function* () {
        const cwd = yield* scratchFolder
        const server = yield* startServer({ cwd, environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN } })
        const keys = {
          opsgenie: yield* addIntegration(server, { name: "opsgenie", kind: "opsgenie" }),
          pagerduty: yield* addIntegration(server, { name: "pagerduty", kind: "pagerduty" }),
        }
        const send = yield* startAlertmanager(server.port, keys)
        const alert = (alertname: string, endsAt?: string) => ({
          labels: { alertname, job: "node", team: "db" },
          annotations: { summary: `${alertname} is bad` },
          ...(endsAt !== undefined && { endsAt }),
        })
        yield* send(alert("Load"))
        yield* shows(server, "critical", "Load")
        const checks = yield* listed<Shown>(server, "/ops/v1/checks")
        const labelsOf = (agent: string) => checks.find(({ agent_id }) => agent_id === agent)?.labels
        assert.deepInclude(labelsOf("opsgenie"), { team: "db", alertname: "Load" })
        assert.deepInclude(labelsOf("pagerduty"), { group: "db", num_firing: "1" })
        // With update_alerts: the alert again, then its message and its description.
        yield* send(alert("Load"), alert("Disk"))
        yield* shows(server, "critical", "Disk")
        const open = yield* listed<{ readonly id: string }>(server, "/api/v1/incidents?state=open")
        assert.strictEqual(open.length, 2)
        for (const { id } of open)
          yield* operate(server, "PUT", `/ops/v1/incidents/${id}/acknowledgement`, { json: {} })
        yield* send(alert("Load"), alert("Disk"), alert("Third"))
        yield* shows(server, "critical", "Third")
        const acknowledged = yield* listed<{ readonly acknowledgement: unknown }>(
          server,
          "/api/v1/incidents?state=open",
        )
        assert.isTrue(acknowledged.every(({ acknowledgement }) => acknowledgement !== null))
        const past = new Date(Date.now() - 1_000).toISOString()
        yield* send(...["Load", "Disk", "Third"].map((name) => alert(name, past)))
        yield* shows(server, "ok", "")
      }),
    600_000,
  )
})

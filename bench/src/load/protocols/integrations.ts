import { faultOf as faultOfAnswer } from "../Answer.ts"
import type { Step } from "../Load.ts"
import { Connection } from "../Connection.ts"
import { httpPost, type RequestVariables } from "../RequestTemplate.ts"
import type { Protocol } from "./Protocol.ts"

/** The checks of an integration that is pinged. */
export const PINGED_CHECKS = 5

/** Alerts in a request, as Prometheus sends them. */
const ALERTS = Array.from({ length: 64 }, (_, index) => String(index).padStart(3, "0"))

const SUMMARY = "99th percentile of latency is above 500 ms"

const operationsOf = (step: Step): number => (step === "heartbeat" ? 1 : ALERTS.length)

const open: Protocol["open"] = (port, listener) => Connection.open({ port }, listener)

/** The results of a request on the API: a single one that is ok, or 64 that are not. */
const eventsOf = (step: Step, { check, idPrefix, time }: RequestVariables) =>
  (step === "heartbeat" ? [check] : ALERTS).map((name, index) => ({
    event_id: `${idPrefix}-8000-${String(index).padStart(12, "0")}`,
    observed_at: time,
    ...(step === "heartbeat"
      ? { check_id: `check-${name}`, status: "ok", exit_code: 0 }
      : { check_id: `alert-${name}`, status: "warning", exit_code: 1, output: SUMMARY }),
    duration_ms: 0,
  }))

/** Tocsin's own API, with the results that `pings` and `alerts` report. */
export const results: Protocol = {
  operationsOf,
  singles: PINGED_CHECKS,
  open,
  render: (step, _status, host) => (variables) =>
    httpPost(
      { host, path: "/api/v1/events", authorization: `Bearer ${variables.key}` },
      JSON.stringify({ agent_id: variables.agentId, events: eventsOf(step, variables) }),
    ),
  faultOf: faultOfAnswer(202),
}

/** Integrations of kind `ping`: one result a request, as curl sends it. */
export const pings: Protocol = {
  operationsOf: () => 1,
  singles: PINGED_CHECKS,
  open,
  render:
    (_step, _status, host) =>
    ({ check, key }) =>
      Buffer.from(
        `GET /in/ping/in_${key}/check-${check} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n`,
      ),
  faultOf: faultOfAnswer(200),
}

/** Integrations of kind `alertmanager`: 64 alerts a request that fire, and are sent again. */
export const alerts: Protocol = {
  operationsOf: () => ALERTS.length,
  open,
  render:
    (_step, _status, host) =>
    ({ agentId, key, time }) =>
      httpPost(
        { host, path: "/in/alertmanager/api/v2/alerts", authorization: `Bearer in_${key}` },
        JSON.stringify(
          ALERTS.map((name) => ({
            labels: {
              alertname: `alert-${name}`,
              instance: `${agentId}.example.org:9100`,
              job: "node",
              severity: "warning",
            },
            annotations: { summary: SUMMARY },
            startsAt: time,
            generatorURL: "http://prometheus.example.org:9090/graph?g0.expr=up",
          })),
        ),
      ),
  faultOf: faultOfAnswer(200),
}

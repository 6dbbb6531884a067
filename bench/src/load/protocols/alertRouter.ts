import { faultOf } from "../Answer.ts"
import { Connection } from "../Connection.ts"
import { CHECK_NUMBERS, operationsOf } from "../Load.ts"
import { httpPost, type RequestVariables } from "../RequestTemplate.ts"
import type { Protocol } from "./Protocol.ts"

const alertOf = ({ agentId, micros, time }: RequestVariables, check: string) => ({
  labels: { alertname: `check-${check}`, agent: agentId, severity: "critical" },
  annotations: { output: `PING CRITICAL - packet loss 0%, RTA 0.${micros} ms` },
  startsAt: time,
})

/** Prometheus Alertmanager: alerts that fire, one or 50 a request. */
export const alertRouter: Protocol = {
  operationsOf,
  open: (port, listener) => Connection.open({ port }, listener),
  render: (step, _status, host) => (variables) => {
    const alerts = (step === "heartbeat" ? [variables.check] : CHECK_NUMBERS).map((check) =>
      alertOf(variables, check),
    )
    return httpPost({ host, path: "/api/v2/alerts" }, JSON.stringify(alerts))
  },
  faultOf: faultOf(200),
}

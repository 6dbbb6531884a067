import { Connection } from "../Connection.ts"
import { httpPost } from "../RequestTemplate.ts"
import type { Protocol } from "./Protocol.ts"

/** The password of the user "bench" of the scratch Icinga. */
export const ICINGA_PASSWORD = "scratch"

/** Icinga 2: one passive check result a request, over TLS, its only transport. */
export const icinga: Protocol = {
  operationsOf: () => 1,
  open: (port, listener) => Connection.open({ port, isSecure: true }, listener),
  render:
    (_step, status, host) =>
    ({ agentId, check, micros }) =>
      httpPost(
        {
          host,
          path: "/v1/actions/process-check-result",
          authorization: `Basic ${Buffer.from(`bench:${ICINGA_PASSWORD}`).toString("base64")}`,
        },
        JSON.stringify({
          type: "Service",
          service: `${agentId}!check-${check}`,
          exit_status: status === "ok" ? 0 : 2,
          plugin_output: `PING ${status.toUpperCase()} - packet loss 0%, RTA 0.${micros} ms`,
        }),
      ),
  faultOf: (_step, { body, status }) =>
    status === 200 && /"code":200\b/.test(body) ? undefined : `answered ${status} ${body.slice(0, 300)}`,
}

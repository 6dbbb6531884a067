import { heartbeatBody, resultsBody } from "../bodies.ts"
import { Connection } from "../Connection.ts"
import { faultOf } from "../Expectation.ts"
import { operationsOf } from "../Load.ts"
import { httpPost } from "../RequestTemplate.ts"
import type { Protocol } from "./Protocol.ts"

/** Tocsin's own API; the raw limit answers it, too. */
export const tocsin: Protocol = {
  operationsOf,
  faultOf,
  open: (port, listener) => Connection.open({ port }, listener),
  render: (step, status, host) => (variables) => {
    const authorization = `Bearer ${variables.key}`
    return step === "heartbeat"
      ? httpPost({ host, authorization, path: "/api/v1/heartbeat" }, heartbeatBody(variables))
      : httpPost({ host, authorization, path: "/api/v1/events" }, resultsBody(variables, status))
  },
}

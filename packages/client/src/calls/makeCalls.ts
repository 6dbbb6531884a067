import { EventBatchRequest, HeartbeatRequest } from "@tocsin/core/contract/Requests"
import { AcceptedResponse, EventBatchAcceptedResponse } from "@tocsin/core/contract/Responses"
import { Effect } from "effect"
import type { ReadOptions } from "../options/readOptions.ts"
import type { EventBatchRequest as WireBatch, HeartbeatRequest as WireHeartbeat } from "../Resources.ts"
import { toClientError } from "../sending/toClientError.ts"
import type { Calls } from "./Calls.ts"
import { type CallMaker, callWith } from "./callWith.ts"
import { bodyDecoder } from "./decoders.ts"
import type { Clients } from "./definition.ts"
import { operationCalls } from "./operationCalls.ts"
import { admissionCalls, lists } from "./operatorCalls.ts"

const decodeHeartbeat = bodyDecoder(HeartbeatRequest)
const decodeBatch = bodyDecoder(EventBatchRequest)

const agentCalls = (call: CallMaker, { agents }: Clients) => ({
  heartbeat: call({
    decode: (request: WireHeartbeat) => decodeHeartbeat(request),
    send: (payload) => agents.heartbeat({ payload }),
    success: AcceptedResponse,
  }),
  events: call({
    decode: (request: WireBatch) => decodeBatch(request),
    send: (payload) => agents.events({ payload }),
    success: EventBatchAcceptedResponse,
  }),
})

/** The calls on clients of the definition. */
export const makeCalls = (clients: Clients, options: ReadOptions): Calls => {
  const asOperator = callWith(options, "token")
  const { agents, blacklist, checks, history, incidents, outbox } = lists(asOperator, clients)
  const admission = admissionCalls(asOperator, clients)
  const operations = operationCalls(asOperator, clients)
  const told = toClientError(options.origin)
  return {
    ...agentCalls(callWith(options, "agentKey"), clients),
    agents: { ...agents, ...admission.agents },
    blacklist: { ...blacklist, ...admission.blacklist },
    checks: { ...checks, ...operations.checks },
    history,
    incidents: { ...incidents, ...operations.incidents },
    outbox: { ...outbox, ...operations.outbox },
    notifiers: operations.notifiers,
    summary: admission.summary,
    health: () => told(clients.health.health()),
    isReady: () =>
      told(
        clients.health.ready().pipe(
          Effect.as(true),
          Effect.catchTag("NotReady", () => Effect.succeed(false)),
        ),
      ),
  }
}

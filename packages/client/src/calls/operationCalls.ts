import * as ops from "@tocsin/adapter-http/api/opsResources"
import { ActionCountResponse } from "@tocsin/core/contract/Responses"
import type { CheckName } from "../Parameters.ts"
import type { CallMaker } from "./callWith.ts"
import { parameterDecoder } from "./decoders.ts"
import type { Clients } from "./definition.ts"

const decodeIncident = parameterDecoder(ops.IncidentPath)
const decodeItem = parameterDecoder(ops.OutboxPath)
const decodeNotifier = parameterDecoder(ops.NotifierPath)
const decodeCheck = parameterDecoder(ops.CheckQuery)

/** What operators do beyond the v1 contract. */
export const operationCalls = (call: CallMaker, { operations }: Clients) => {
  const decode = (check: CheckName) => decodeCheck(check)
  return {
    checks: {
      explain: call({
        decode,
        send: (query) => operations.explain({ query }),
        success: ops.CheckExplanation,
      }),
      resetClock: call({
        decode,
        send: (params) => operations.resetClock({ params }),
        success: ActionCountResponse,
      }),
      remove: call({
        decode,
        send: (params) => operations.removeCheck({ params }),
        success: ActionCountResponse,
      }),
    },
    incidents: {
      get: call({
        decode: (id: string) => decodeIncident({ id }),
        send: (params) => operations.showIncident({ params }),
        success: ops.IncidentDetail,
      }),
    },
    outbox: {
      replay: call({
        decode: (id: string) => decodeItem({ id }),
        send: (params) => operations.replay({ params }),
        success: ActionCountResponse,
      }),
    },
    notifiers: {
      test: call({
        decode: (notifier: string) => decodeNotifier({ notifier }),
        send: (params) => operations.testNotifier({ params }),
        success: ops.NotifierTest,
      }),
    },
  }
}

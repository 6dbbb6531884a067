import { Operations } from "@tocsin/core/usecases/Operations"
import { toIncidentDetail, toNotifierTest } from "@tocsin/core/usecases/toResources"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OpsApi } from "../api/OpsApi.ts"
import { toApiError } from "../response/failures.ts"

/** The endpoints of /ops/v1: each calls one use case. */
export const layer = HttpApiBuilder.group(
  OpsApi,
  "operations",
  Effect.fnUntraced(function* (handlers) {
    const operations = yield* Operations
    return handlers.handleAll({
      replay: ({ params }) => toApiError(operations.replay(params.id)),
      testNotifier: ({ params }) =>
        toApiError(Effect.map(operations.testNotifier(params.notifier), toNotifierTest)),
      resetClock: ({ params }) => toApiError(operations.resetClock(params)),
      removeCheck: ({ params }) => toApiError(operations.removeCheck(params)),
      showIncident: ({ params }) => toApiError(Effect.map(operations.incident(params.id), toIncidentDetail)),
      explain: ({ query }) => toApiError(operations.explain(query)),
    })
  }),
)

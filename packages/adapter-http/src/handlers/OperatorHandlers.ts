import { Admission } from "@tocsin/core/usecases/Admission"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "../api.ts"
import { toApiError } from "../response/failures.ts"

/** The operators' endpoints: each calls one use case. */
export const layer = HttpApiBuilder.group(
  TocsinApi,
  "operators",
  Effect.fnUntraced(function* (handlers) {
    const admission = yield* Admission
    const queries = yield* Queries
    return handlers.handleAll({
      listAgents: ({ query }) => toApiError(queries.agents(query)),
      getAgent: ({ params }) => toApiError(queries.agent(params.agent_id)),
      deleteAgent: ({ params }) => toApiError(admission.remove(params.agent_id)),
      acceptAgent: ({ params }) => toApiError(admission.accept(params.agent_id)),
      blockAgent: ({ params }) => toApiError(admission.block(params.agent_id)),
      acceptAll: ({ query }) => toApiError(admission.acceptAll({ includeRotation: query.include_rotation })),
      blockAll: () => toApiError(admission.blockAll),
      removeAll: () => toApiError(admission.removeAll),
      listBlacklist: ({ query }) => toApiError(queries.blacklist(query)),
      deleteBlacklist: () => toApiError(admission.unblockAll),
      deleteBlacklistRow: ({ params }) => toApiError(admission.unblock(params.key_id)),
      listChecks: ({ query }) => toApiError(queries.checks(query)),
      listIncidents: ({ query }) => toApiError(queries.incidents(query)),
      queryEvents: ({ query }) => toApiError(queries.history(query)),
      getSummary: () => toApiError(queries.summary),
      listOutbox: ({ query }) => toApiError(queries.outbox(query)),
    })
  }),
)

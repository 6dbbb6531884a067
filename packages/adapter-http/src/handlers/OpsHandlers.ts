import type { IncidentStory } from "@tocsin/core/ports/Storage"
import type { TestReceipt } from "@tocsin/core/ports/Notifiers"
import type { Explanation } from "@tocsin/core/usecases/explain"
import { Operations } from "@tocsin/core/usecases/Operations"
import { toIncident, toOutboxItem } from "@tocsin/core/usecases/resources"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OpsApi } from "../api/OpsApi.ts"
import { toApiError } from "../response/toApiError.ts"

const toTest = ({ result, status }: TestReceipt) => ({
  outcome: result.outcome,
  status: status ?? null,
  error: result.outcome === "delivered" ? null : result.error,
})

const toDetail = ({ incident, members, changes, outbox }: IncidentStory) => ({
  incident: toIncident(incident),
  members: members.map((member) => ({
    agent_id: member.agent_id,
    check_id: member.check_id,
    severity: member.severity,
    summary: member.summary ?? null,
    joined_at: member.joined_at,
    left_at: member.left_at ?? null,
  })),
  timeline: changes.map((change) => ({
    at: change.changed_at,
    change: change.change,
    agent_id: change.agent_id,
    check_id: change.check_id,
    severity: change.severity,
    incident_severity: change.incident_severity ?? null,
  })),
  deliveries: outbox.map(toOutboxItem),
})

const toExplanation = (explanation: Explanation) => ({
  ...explanation,
  last_change: explanation.last_change ?? null,
  incident: explanation.incident ?? null,
})

/** The endpoints of /ops/v1: each calls one use case. */
export const layer = HttpApiBuilder.group(
  OpsApi,
  "operations",
  Effect.fnUntraced(function* (handlers) {
    const operations = yield* Operations
    return handlers.handleAll({
      replay: ({ params }) => toApiError(operations.replay(params.id)),
      testNotifier: ({ params }) => toApiError(Effect.map(operations.testNotifier(params.notifier), toTest)),
      resetClock: ({ params }) => toApiError(operations.resetClock(params)),
      removeCheck: ({ params }) => toApiError(operations.removeCheck(params)),
      showIncident: ({ params }) => toApiError(Effect.map(operations.incident(params.id), toDetail)),
      explain: ({ query }) => toApiError(Effect.map(operations.explain(query), toExplanation)),
    })
  }),
)

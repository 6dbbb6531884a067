import { Admission } from "@tocsin/core/lists/Admission"
import { traceIncident } from "@tocsin/core/heart/notifications/traceIncident"
import { Availability } from "@tocsin/core/heart/availability/readAvailability"
import { Checks } from "@tocsin/core/heart/usecases/Checks"
import { Incidents } from "@tocsin/core/heart/usecases/Incidents"
import { ExplainedChecks } from "@tocsin/core/lists/ExplainedChecks"
import { Operators } from "@tocsin/core/heart/usecases/Operators"
import { Queries } from "@tocsin/core/lists/Queries"
import { toAcknowledgement } from "@tocsin/core/heart/model/Acknowledgement"
import { toLogEntry } from "@tocsin/core/heart/model/IncidentRecord"
import { toIncidentDetail } from "@tocsin/core/heart/usecases/shownIncidents"
import { Context, Effect } from "effect"
import type { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { type OpsUseCases, type UseCases, useCasesOf } from "./OpsUseCases.ts"

/** The use case of each operators' endpoint of /api/v1. */
export const v1UseCases = (services: Context.Context<Admission | Queries>) => {
  const admission = Context.get(services, Admission)
  const queries = Context.get(services, Queries)
  return {
    listAgents: ({ query }) => queries.agents(query),
    getAgent: ({ params }) => queries.agent(params.agent_id),
    deleteAgent: ({ params }) => admission.remove(params.agent_id),
    acceptAgent: ({ params }) => admission.accept(params.agent_id),
    blockAgent: ({ params }) => admission.block(params.agent_id),
    acceptAll: ({ query }) => admission.acceptAll({ includeRotation: query.include_rotation }),
    blockAll: () => admission.blockAll,
    removeAll: () => admission.removeAll,
    listBlacklist: ({ query }) => queries.blacklist(query),
    deleteBlacklist: () => admission.unblockAll,
    deleteBlacklistRow: ({ params }) => admission.unblock(params.key_id),
    listChecks: ({ query }) => queries.checks(query),
    listIncidents: ({ query }) => queries.incidents(query),
    queryEvents: ({ query }) => queries.history(query),
    getSummary: () => queries.summary,
    listOutbox: ({ query }) => queries.outbox(query),
  } satisfies UseCases<(typeof TocsinApi)["groups"]["operators"]["endpoints"]>
}

export const operationUseCases = (
  services: Context.Context<Availability | Checks | ExplainedChecks | Incidents | Queries>,
) => {
  const checks = Context.get(services, Checks)
  const incidents = Context.get(services, Incidents)
  const queries = Context.get(services, Queries)
  return {
    getOverview: () => queries.overview,
    findAgents: ({ query }) => queries.findAgents(query),
    listExpectedChecks: ({ query }) => checks.expectedChecks(query),
    listAvailability: ({ query }) => Context.get(services, Availability).availability(query),
    listAudit: ({ query }) => queries.audit(query),
    replay: ({ params }) => incidents.replay(params.id),
    release: ({ params }) => incidents.release(params.id),
    listHeldOutbox: ({ query }) => incidents.outbox(query),
    listHeldIncidents: ({ query }) => incidents.incidents(query),
    resetClock: ({ params }) => checks.resetClock(params),
    titleCheck: ({ params, payload }) => checks.titleCheck(params, payload.title ?? undefined),
    titleAgent: ({ params, payload }) => checks.titleAgent(params.agent_id, payload.title ?? undefined),
    removeCheck: ({ params }) => checks.removeCheck(params),
    showIncident: ({ params }) => Effect.map(incidents.incident(params.id), toIncidentDetail),
    traceIncident: ({ params }) => Effect.map(incidents.incident(params.id), traceIncident),
    explain: ({ query }) => Context.get(services, ExplainedChecks).explain(query),
  } satisfies OpsUseCases<"operations">
}

export const operatorUseCases = useCasesOf("operators", Operators, (operators) => ({
  me: () => operators.me,
  listOperators: ({ query }) => operators.list(query),
  createOperator: ({ payload }) => operators.create(payload),
  changeOperator: ({ params, payload }) => operators.change(params.name, payload),
  rotateOperator: ({ params, payload }) => operators.rotate(params.name, payload),
  removeOperator: ({ params }) => operators.remove(params.name),
}))

export const incidentUseCases = useCasesOf("incidentActions", Incidents, (incidents) => ({
  acknowledge: ({ params, payload }) =>
    Effect.map(incidents.acknowledge(params.id, payload), toAcknowledgement),
  withdrawAcknowledgement: ({ params }) => incidents.withdraw(params.id),
  acknowledgeAll: ({ payload }) => incidents.acknowledgeAll(payload),
  noteIncident: ({ params, payload }) => Effect.map(incidents.note(params.id, payload), toLogEntry),
}))

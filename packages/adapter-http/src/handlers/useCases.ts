import { Admission } from "@tocsin/core/lists/Admission"
import { traceIncident } from "@tocsin/core/heart/notifications/traceIncident"
import { Operations } from "@tocsin/core/lists/Operations"
import { Operators } from "@tocsin/core/heart/usecases/Operators"
import { Queries } from "@tocsin/core/lists/Queries"
import { toAcknowledgement } from "@tocsin/core/heart/model/Acknowledgement"
import { toLogEntry } from "@tocsin/core/heart/model/IncidentRecord"
import { toIncidentDetail } from "@tocsin/core/heart/usecases/shownIncidents"
import { toNotifierTest } from "@tocsin/core/heart/notifications/Notifiers"
import { Context, Effect } from "effect"
import type { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import type { OpsUseCases, UseCases } from "./OpsUseCases.ts"

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

export const operationUseCases = (services: Context.Context<Operations | Queries>) => {
  const operations = Context.get(services, Operations)
  const queries = Context.get(services, Queries)
  return {
    getOverview: () => queries.overview,
    getAgentDownload: () => operations.agentDownload,
    findAgents: ({ query }) => queries.findAgents(query),
    listExpectedChecks: ({ query }) => operations.expectedChecks(query),
    listAvailability: ({ query }) => operations.availability(query),
    readReport: ({ query }) => operations.report(query),
    listSeries: ({ params }) => queries.numbers.ofCheck(params.agent_id, params.check_id),
    readNumbers: ({ query }) => queries.numbers.read(query),
    listAudit: ({ query }) => queries.audit(query),
    replay: ({ params }) => operations.replay(params.id),
    release: ({ params }) => operations.release(params.id),
    listHeldOutbox: ({ query }) => operations.outbox(query),
    listHeldIncidents: ({ query }) => operations.incidents(query),
    testNotifier: ({ params }) => Effect.map(operations.testNotifier(params.notifier), toNotifierTest),
    resolveCheck: ({ params }) => operations.resolveCheck(params),
    resetClock: ({ params }) => operations.resetClock(params),
    titleCheck: ({ params, payload }) => operations.titleCheck(params, payload.title ?? undefined),
    titleAgent: ({ params, payload }) => operations.titleAgent(params.agent_id, payload.title ?? undefined),
    removeCheck: ({ params }) => operations.removeCheck(params),
    showIncident: ({ params }) => Effect.map(operations.incident(params.id), toIncidentDetail),
    traceIncident: ({ params }) => Effect.map(operations.incident(params.id), traceIncident),
    explain: ({ query }) => operations.explain(query),
  } satisfies OpsUseCases<"operations">
}

export const operatorUseCases = (services: Context.Context<Operators>) => {
  const operators = Context.get(services, Operators)
  return {
    me: () => operators.me,
    listOperators: ({ query }) => operators.list(query),
    createOperator: ({ payload }) => operators.create(payload),
    changeOperator: ({ params, payload }) => operators.change(params.name, payload),
    rotateOperator: ({ params, payload }) => operators.rotate(params.name, payload),
    removeOperator: ({ params }) => operators.remove(params.name),
  } satisfies OpsUseCases<"operators">
}

export const incidentUseCases = (services: Context.Context<Operations>) => {
  const operations = Context.get(services, Operations)
  return {
    acknowledge: ({ params, payload }) =>
      Effect.map(operations.acknowledge(params.id, payload), toAcknowledgement),
    withdrawAcknowledgement: ({ params }) => operations.withdraw(params.id),
    acknowledgeAll: ({ payload }) => operations.acknowledgeAll(payload),
    noteIncident: ({ params, payload }) => Effect.map(operations.note(params.id, payload), toLogEntry),
  } satisfies OpsUseCases<"incidentActions">
}

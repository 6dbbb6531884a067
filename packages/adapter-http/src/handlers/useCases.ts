import type { Admission } from "@tocsin/core/usecases/Admission"
import type { Integrations } from "@tocsin/core/usecases/Integrations"
import type { Operations } from "@tocsin/core/usecases/Operations"
import type { Operators } from "@tocsin/core/usecases/Operators"
import type { Policies } from "@tocsin/core/usecases/Policies"
import type { Queries } from "@tocsin/core/usecases/Queries"
import {
  toAcknowledgement,
  toLogEntry,
  toIncidentDetail,
  toNotifierTest,
} from "@tocsin/core/usecases/toResources"
import { Effect, Record } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import type { OpsApi } from "@tocsin/contract/api/OpsApi"
import { policySchema } from "../policy/policySchema.ts"
import { type CoreError, toApiError } from "../response/failures.ts"

/** A function for each endpoint, from its decoded parameters to its decoded answer. */
type UseCases<Endpoints extends Readonly<Record<string, HttpApiEndpoint.Constraint>>> = {
  readonly [Name in keyof Endpoints]: (
    request: Parameters<Endpoints[Name]["~Request"]>,
  ) => Effect.Effect<Endpoints[Name]["~Success"]["Type"], CoreError>
}
type Parameters<Request> = Pick<Request, Extract<keyof Request, "params" | "query" | "headers" | "payload">>

/** The use case of each operators' endpoint of /api/v1. */
export const operatorUseCases = (admission: Admission["Service"], queries: Queries["Service"]) =>
  ({
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
  }) satisfies UseCases<(typeof TocsinApi)["groups"]["operators"]["endpoints"]>

/** The use case of each endpoint of /ops/v1. */
export const operationUseCases = (operations: Operations["Service"], queries: Queries["Service"]) =>
  ({
    listExpectedChecks: ({ query }) => queries.expectedChecks(query),
    listAvailability: ({ query }) => operations.availability(query),
    listAudit: ({ query }) => queries.audit(query),
    replay: ({ params }) => operations.replay(params.id),
    release: ({ params }) => operations.release(params.id),
    listHeldOutbox: ({ query }) => operations.outbox(query),
    listHeldIncidents: ({ query }) => operations.incidents(query),
    testNotifier: ({ params }) => Effect.map(operations.testNotifier(params.notifier), toNotifierTest),
    resetClock: ({ params }) => operations.resetClock(params),
    removeCheck: ({ params }) => operations.removeCheck(params),
    showIncident: ({ params }) => Effect.map(operations.incident(params.id), toIncidentDetail),
    explain: ({ query }) => operations.explain(query),
  }) satisfies UseCases<(typeof OpsApi)["groups"]["operations"]["endpoints"]>

/** The use case of each endpoint for named operators. */
export const namedOperatorUseCases = (operators: Operators["Service"]) =>
  ({
    me: () => operators.me,
    listOperators: ({ query }) => operators.list(query),
    createOperator: ({ payload }) => operators.create(payload),
    changeOperator: ({ params, payload }) => operators.change(params.name, payload),
    rotateOperator: ({ params, payload }) => operators.rotate(params.name, payload),
    removeOperator: ({ params }) => operators.remove(params.name),
  }) satisfies UseCases<(typeof OpsApi)["groups"]["operators"]["endpoints"]>

/** The use case of each endpoint for integrations. */
export const integrationUseCases = (integrations: Integrations["Service"]) =>
  ({
    listIntegrations: ({ query }) => integrations.list(query),
    getIntegration: ({ params }) => integrations.get(params.name),
    createIntegration: ({ payload }) => integrations.create(payload),
    changeIntegration: ({ params, payload }) => integrations.change(params.name, payload),
    rotateIntegration: ({ params, payload }) => integrations.rotate(params.name, payload),
    removeIntegration: ({ params }) => integrations.remove(params.name),
  }) satisfies UseCases<(typeof OpsApi)["groups"]["integrations"]["endpoints"]>

/** The use case of each endpoint of /ops/v1 by which people act on incidents. */
export const incidentActUseCases = (operations: Operations["Service"]) =>
  ({
    acknowledge: ({ params, payload }) =>
      Effect.map(operations.acknowledge(params.id, payload), toAcknowledgement),
    withdrawAcknowledgement: ({ params }) => operations.withdraw(params.id),
    acknowledgeAll: ({ payload }) => operations.acknowledgeAll(payload),
    noteIncident: ({ params, payload }) => Effect.map(operations.note(params.id, payload), toLogEntry),
  }) satisfies UseCases<(typeof OpsApi)["groups"]["incidentActions"]["endpoints"]>

/** A hash as If-Match has it: in quotes, or as people write it. */
const unquoted = (hash: string | undefined): string | undefined => hash?.replaceAll('"', "")

/** The use case of each endpoint for the policy. */
export const policyUseCases = (policies: Policies["Service"]) =>
  ({
    listWindows: () => policies.windows,
    getPolicy: () => policies.current,
    getPolicySchema: () => Effect.sync(policySchema),
    listPolicyVersions: () => policies.versions,
    // It is stored: a process that cannot put it in force now tries again within seconds.
    applyPolicy: ({ headers, payload }) =>
      Effect.tap(policies.apply(payload, unquoted(headers["if-match"])), () =>
        Effect.ignore(policies.follow),
      ),
    // The parser of YAML is loaded by the first policy that is read.
    checkPolicy: ({ payload }) =>
      Effect.map(
        Effect.promise(() => import("../policy/readPolicyText.ts")),
        ({ policyIssues }) => ({ issues: policyIssues(payload, policies.given) }),
      ),
  }) satisfies UseCases<(typeof OpsApi)["groups"]["policy"]["endpoints"]>

/** The use case of each endpoint for watches. */
export const watchUseCases = (operations: Operations["Service"]) =>
  ({
    tryWatch: ({ payload }) => operations.tryWatch(payload),
  }) satisfies UseCases<(typeof OpsApi)["groups"]["watches"]["endpoints"]>

/** The use case of each endpoint for silences. */
export const silenceUseCases = (operations: Operations["Service"], queries: Queries["Service"]) =>
  ({
    listSilences: ({ query }) => queries.silences(query),
    getSilence: ({ params }) => operations.showSilence(params.id),
    createSilence: ({ payload, query }) =>
      query.dry_run ? operations.previewSilence(payload) : operations.silence(payload),
    changeSilence: ({ params, payload }) => operations.editSilence(params.id, payload),
    expireSilence: ({ params }) => operations.expireSilence(params.id),
  }) satisfies UseCases<(typeof OpsApi)["groups"]["silences"]["endpoints"]>

type Answering<UseCase> = UseCase extends (
  ...request: infer Request
) => Effect.Effect<infer A, infer E extends CoreError>
  ? (...request: Request) => ReturnType<typeof toApiError<A, E, never>>
  : never

/** Turns the errors of use cases into those of the API. */
export const answering = <
  Answers extends Readonly<Record<string, (request: never) => Effect.Effect<unknown, CoreError>>>,
>(
  useCases: Answers,
) =>
  // Each handler has the types of its use case, which `Record.map` loses.
  Record.map(useCases, (useCase) => (request: never) => toApiError(useCase(request))) as unknown as {
    readonly [Name in keyof Answers]: Answering<Answers[Name]>
  }

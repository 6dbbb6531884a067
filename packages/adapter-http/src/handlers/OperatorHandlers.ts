import { AcknowledgeAllRequest, AcknowledgeRequest, NoteRequest } from "@tocsin/contract/Acknowledgements"
import {
  ChangeOperatorRequest,
  CreateOperatorRequest,
  RotateOperatorRequest,
} from "@tocsin/contract/Operators"
import {
  ChangeIntegrationRequest,
  CreateIntegrationRequest,
  RotateIntegrationRequest,
} from "@tocsin/contract/Integrations"
import { SilenceChangeRequest, SilenceRequest } from "@tocsin/contract/Silences"
import { TryWatchRequest } from "@tocsin/contract/Watches"
import { Readiness } from "@tocsin/core/health/Readiness"
import { Admission } from "@tocsin/core/usecases/Admission"
import { Integrations } from "@tocsin/core/usecases/Integrations"
import { Operations } from "@tocsin/core/usecases/Operations"
import { Operators } from "@tocsin/core/usecases/Operators"
import { Policies } from "@tocsin/core/usecases/Policies"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect, type Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { readBody, readText } from "../request/RequestBody.ts"
import { answeringMatch, fail } from "../response/failures.ts"
import {
  answering,
  incidentActUseCases,
  integrationUseCases,
  namedOperatorUseCases,
  operationUseCases,
  operatorUseCases,
  policyUseCases,
  silenceUseCases,
  watchUseCases,
} from "./useCases.ts"

/** The operators' endpoints: each calls one use case. */
export const v1 = HttpApiBuilder.group(
  TocsinApi,
  "operators",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(answering(operatorUseCases(yield* Admission, yield* Queries)))
  }),
)

/** The endpoints of /ops/v1: each calls one use case. */
export const ops = HttpApiBuilder.group(
  OpsApi,
  "operations",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(answering(operationUseCases(yield* Operations, yield* Queries)))
  }),
)

/** The handler of an endpoint that reads its body itself, for the contract's messages. */
const reading =
  <S extends Schema.ConstraintDecoder<unknown>, Given extends { readonly payload: S["Type"] }, A, E, R>(
    schema: S,
    useCase: (given: Given) => Effect.Effect<A, E, R>,
  ) =>
  (given: Omit<Given, "payload"> & { readonly request: HttpServerRequest.HttpServerRequest }) =>
    Effect.flatMap(readBody(given.request, schema), (payload) =>
      // The endpoint's parameters, with its payload.
      useCase({ ...given, payload } as unknown as Given),
    )

/** The endpoints for named operators. Those with a body read it themselves, for the contract's messages. */
export const namedOperators = HttpApiBuilder.group(
  OpsApi,
  "operators",
  Effect.fnUntraced(function* (handlers) {
    const useCases = answering(namedOperatorUseCases(yield* Operators))
    return handlers
      .handle("me", useCases.me)
      .handle("listOperators", useCases.listOperators)
      .handle("removeOperator", useCases.removeOperator)
      .handleRaw("createOperator", reading(CreateOperatorRequest, useCases.createOperator))
      .handleRaw("changeOperator", reading(ChangeOperatorRequest, useCases.changeOperator))
      .handleRaw("rotateOperator", reading(RotateOperatorRequest, useCases.rotateOperator))
  }),
)

/** The endpoints for integrations. Those with a body read it themselves, for the contract's messages. */
export const integrations = HttpApiBuilder.group(
  OpsApi,
  "integrations",
  Effect.fnUntraced(function* (handlers) {
    const useCases = answering(integrationUseCases(yield* Integrations))
    return handlers
      .handle("listIntegrations", useCases.listIntegrations)
      .handle("getIntegration", useCases.getIntegration)
      .handle("removeIntegration", useCases.removeIntegration)
      .handleRaw("createIntegration", reading(CreateIntegrationRequest, useCases.createIntegration))
      .handleRaw("changeIntegration", reading(ChangeIntegrationRequest, useCases.changeIntegration))
      .handleRaw("rotateIntegration", reading(RotateIntegrationRequest, useCases.rotateIntegration))
  }),
)

/** The endpoints of /ops/v1 by which people act on incidents: the operator who calls is who acts. */
export const incidentActions = HttpApiBuilder.group(
  OpsApi,
  "incidentActions",
  Effect.fnUntraced(function* (handlers) {
    const useCases = answering(incidentActUseCases(yield* Operations))
    return handlers
      .handleRaw("acknowledge", reading(AcknowledgeRequest, useCases.acknowledge))
      .handle("withdrawAcknowledgement", useCases.withdrawAcknowledgement)
      .handleRaw("acknowledgeAll", reading(AcknowledgeAllRequest, useCases.acknowledgeAll))
      .handleRaw("noteIncident", reading(NoteRequest, useCases.noteIncident))
  }),
)

/** The endpoints for the policy. A text to check may be in any media type. */
export const policy = HttpApiBuilder.group(
  OpsApi,
  "policy",
  Effect.fnUntraced(function* (handlers) {
    const policies = policyUseCases(yield* Policies)
    const useCases = answering(policies)
    return handlers
      .handle("listWindows", useCases.listWindows)
      .handle("getPolicy", useCases.getPolicy)
      .handle("getPolicySchema", useCases.getPolicySchema)
      .handle("listPolicyVersions", useCases.listPolicyVersions)
      .handleRaw("applyPolicy", ({ headers, request }) =>
        Effect.flatMap(readText(request), (payload) =>
          answeringMatch(policies.applyPolicy({ headers, payload })),
        ),
      )
      .handleRaw("checkPolicy", ({ request }) =>
        Effect.flatMap(readText(request), (payload) => useCases.checkPolicy({ payload })),
      )
  }),
)

const ok = { status: "ok" } as const
const notReady = fail({
  code: "not_ready",
  message: "the storage is unreachable or refuses writes, or the service is shutting down",
})

/** The endpoints for probes (docs/rules.md#health-and-readiness). */
export const health = HttpApiBuilder.group(
  TocsinApi,
  "health",
  Effect.fnUntraced(function* (handlers) {
    const { isReady } = yield* Readiness
    return handlers
      .handle("health", () => Effect.succeed(ok))
      .handle("ready", () => Effect.flatMap(isReady, (ready) => (ready ? Effect.succeed(ok) : notReady)))
  }),
)

/** The endpoint for watches reads its body itself, for the contract's messages. */
export const watches = HttpApiBuilder.group(
  OpsApi,
  "watches",
  Effect.fnUntraced(function* (handlers) {
    const useCases = answering(watchUseCases(yield* Operations))
    return handlers.handleRaw("tryWatch", reading(TryWatchRequest, useCases.tryWatch))
  }),
)

/** The endpoints for silences. Those with a body read it themselves, for the contract's messages. */
export const silences = HttpApiBuilder.group(
  OpsApi,
  "silences",
  Effect.fnUntraced(function* (handlers) {
    const useCases = answering(silenceUseCases(yield* Operations, yield* Queries))
    return handlers
      .handle("listSilences", useCases.listSilences)
      .handle("getSilence", useCases.getSilence)
      .handleRaw("createSilence", reading(SilenceRequest, useCases.createSilence))
      .handleRaw("changeSilence", reading(SilenceChangeRequest, useCases.changeSilence))
      .handle("expireSilence", useCases.expireSilence)
  }),
)

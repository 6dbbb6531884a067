import {
  AcknowledgeAllRequest,
  AcknowledgeRequest,
  NoteRequest,
} from "@tocsin/core/contract/Acknowledgements"
import {
  ChangeOperatorRequest,
  CreateOperatorRequest,
  RotateOperatorRequest,
} from "@tocsin/core/contract/Operators"
import { Readiness } from "@tocsin/core/health/Readiness"
import { Admission } from "@tocsin/core/usecases/Admission"
import { Operations } from "@tocsin/core/usecases/Operations"
import { Operators } from "@tocsin/core/usecases/Operators"
import { Policies } from "@tocsin/core/usecases/Policies"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "../api.ts"
import { OpsApi } from "../api/OpsApi.ts"
import { readBody, readText } from "../request/RequestBody.ts"
import { fail } from "../response/failures.ts"
import {
  answering,
  incidentActUseCases,
  namedOperatorUseCases,
  operationUseCases,
  operatorUseCases,
  policyUseCases,
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
      .handleRaw("createOperator", ({ request }) =>
        Effect.flatMap(readBody(request, CreateOperatorRequest), (payload) =>
          useCases.createOperator({ payload }),
        ),
      )
      .handleRaw("changeOperator", ({ params, request }) =>
        Effect.flatMap(readBody(request, ChangeOperatorRequest), (payload) =>
          useCases.changeOperator({ params, payload }),
        ),
      )
      .handleRaw("rotateOperator", ({ params, request }) =>
        Effect.flatMap(readBody(request, RotateOperatorRequest), (payload) =>
          useCases.rotateOperator({ params, payload }),
        ),
      )
  }),
)

/** The endpoints of /ops/v1 by which people act on incidents: the operator who calls is who acts. */
export const incidentActs = HttpApiBuilder.group(
  OpsApi,
  "incidentActs",
  Effect.fnUntraced(function* (handlers) {
    const useCases = answering(incidentActUseCases(yield* Operations))
    return handlers
      .handleRaw("acknowledge", ({ params, request }) =>
        Effect.flatMap(readBody(request, AcknowledgeRequest), (payload) =>
          useCases.acknowledge({ params, payload }),
        ),
      )
      .handle("withdrawAcknowledgement", useCases.withdrawAcknowledgement)
      .handleRaw("acknowledgeAll", ({ request }) =>
        Effect.flatMap(readBody(request, AcknowledgeAllRequest), (payload) =>
          useCases.acknowledgeAll({ payload }),
        ),
      )
      .handleRaw("noteIncident", ({ params, request }) =>
        Effect.flatMap(readBody(request, NoteRequest), (payload) =>
          useCases.noteIncident({ params, payload }),
        ),
      )
  }),
)

/** The endpoints for the policy. A text to check may be in any media type. */
export const policy = HttpApiBuilder.group(
  OpsApi,
  "policy",
  Effect.fnUntraced(function* (handlers) {
    const useCases = answering(policyUseCases(yield* Policies))
    return handlers
      .handle("listWindows", useCases.listWindows)
      .handle("getPolicy", useCases.getPolicy)
      .handle("getPolicySchema", useCases.getPolicySchema)
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

import { Readiness } from "@tocsin/core/health/Readiness"
import { Admission } from "@tocsin/core/usecases/Admission"
import { Operations } from "@tocsin/core/usecases/Operations"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "../api.ts"
import { OpsApi } from "../api/OpsApi.ts"
import { fail } from "../response/failures.ts"
import { answering, operationUseCases, operatorUseCases } from "./useCases.ts"

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
    return handlers.handleAll(answering(operationUseCases(yield* Operations)))
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

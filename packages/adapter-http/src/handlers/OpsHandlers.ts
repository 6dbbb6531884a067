import { Operations } from "@tocsin/core/usecases/Operations"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OpsApi } from "../api/OpsApi.ts"
import { answering, operationUseCases } from "./useCases.ts"

/** The endpoints of /ops/v1: each calls one use case. */
export const layer = HttpApiBuilder.group(
  OpsApi,
  "operations",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(answering(operationUseCases(yield* Operations)))
  }),
)

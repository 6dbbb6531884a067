import { Admission } from "@tocsin/core/usecases/Admission"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "../api.ts"
import { answering, operatorUseCases } from "./useCases.ts"

/** The operators' endpoints: each calls one use case. */
export const layer = HttpApiBuilder.group(
  TocsinApi,
  "operators",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(answering(operatorUseCases(yield* Admission, yield* Queries)))
  }),
)

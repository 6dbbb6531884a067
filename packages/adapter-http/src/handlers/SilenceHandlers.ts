import { SilenceChangeRequest, SilenceRequest } from "@tocsin/core/contract/Silences"
import { Operations } from "@tocsin/core/usecases/Operations"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OpsApi } from "../api/OpsApi.ts"
import { readBody } from "../request/RequestBody.ts"
import { answering, silenceUseCases } from "./useCases.ts"

/** The endpoints for silences. */
export const silences = HttpApiBuilder.group(
  OpsApi,
  "silences",
  Effect.fnUntraced(function* (handlers) {
    const useCases = answering(silenceUseCases(yield* Operations, yield* Queries))
    return handlers
      .handle("listSilences", useCases.listSilences)
      .handle("getSilence", useCases.getSilence)
      .handleRaw("createSilence", ({ query, request }) =>
        Effect.flatMap(readBody(request, SilenceRequest), (payload) =>
          useCases.createSilence({ query, payload }),
        ),
      )
      .handleRaw("changeSilence", ({ params, request }) =>
        Effect.flatMap(readBody(request, SilenceChangeRequest), (payload) =>
          useCases.changeSilence({ params, payload }),
        ),
      )
      .handle("expireSilence", useCases.expireSilence)
  }),
)

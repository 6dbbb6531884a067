import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TocsinApi } from "../api.ts"
import { Readiness } from "@tocsin/core/health/Readiness"
import { fail } from "../response/failures.ts"

const ok = { status: "ok" } as const

/** The endpoints for probes. Health tells only that the process answers (docs/rules.md#health-and-readiness). */
export const layer = HttpApiBuilder.group(
  TocsinApi,
  "health",
  Effect.fnUntraced(function* (handlers) {
    const { isReady } = yield* Readiness
    return handlers
      .handle("health", () => Effect.succeed(ok))
      .handle(
        "ready",
        Effect.fnUntraced(function* () {
          if (yield* isReady) return ok
          return yield* fail({
            code: "not_ready",
            message: "the storage is unreachable or refuses writes, or the service is shutting down",
          })
        }),
      )
  }),
)

import { Push } from "@tocsin/core/features/push/Push"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { FailedAuthentications } from "../../request/authentication.ts"
import { errorResponse, failureOfCause } from "../../response/failures.ts"
import { RequestId } from "../../response/headerFields.ts"
import { type KnownRoute, pathOf } from "../../routes.ts"

const PATH = "/a/:token/shown"

export const routes: ReadonlyArray<KnownRoute> = (["GET", "POST"] as const).map((method) => ({
  method,
  path: PATH,
}))

const NOT_ALLOWED = HttpServerResponse.text("A browser posts here once it has shown a notification.\n", {
  status: 405,
  headers: { allow: "POST", "cache-control": "no-store" },
})

/** Notes that a browser has shown a notification; its token acknowledges nothing (docs/rules.md#browsers). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { shown } = yield* Push
    const { noteToken } = yield* FailedAuthentications
    const answer = Effect.gen(function* () {
      const { url } = yield* HttpServerRequest.HttpServerRequest
      const [, , token = ""] = pathOf(url).split("/")
      yield* Effect.tapErrorTag(shown(token), "NotFound", () => noteToken)
      return HttpServerResponse.empty({ status: 204 })
    }).pipe(Effect.catchCause((cause) => Effect.zipWith(failureOfCause(cause), RequestId, errorResponse)))
    yield* router.add("POST", PATH, answer)
    // Programs open addresses that they find.
    yield* router.add("GET", PATH, NOT_ALLOWED)
  }),
)

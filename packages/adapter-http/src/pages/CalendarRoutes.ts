import { Operations } from "@tocsin/core/usecases/Operations"
import { errorStatus } from "@tocsin/contract/Errors"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { FailedAuthentications } from "../request/authentication.ts"
import { errorFields, failureOfCause } from "../response/failures.ts"
import { type KnownRoute, pathOf } from "../routes.ts"

const PATH = "/on-call/:token"

export const routes: ReadonlyArray<KnownRoute> = [{ method: "GET", path: PATH }]

const UNKNOWN = "This calendar is not known. Copy its whole address from the rota in Tocsin.\n"
const FAILED = "Tocsin cannot answer now. Try again in a moment.\n"

/** Programs look at the type first; search engines must not list who is on call. */
const FIELDS = { "x-robots-tag": "noindex, nofollow, noarchive" }

/** Answers the calendar of a rota to programs that subscribe to it (docs/rules.md#calendars). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { calendar } = yield* Operations
    const { noteToken } = yield* FailedAuthentications
    const answer = Effect.gen(function* () {
      const { url } = yield* HttpServerRequest.HttpServerRequest
      const [, , file = ""] = pathOf(url).split("/")
      // An ending that is missing makes another token.
      const token = file.endsWith(".ics") ? file.slice(0, -".ics".length) : ""
      return yield* calendar(token).pipe(
        // An unknown token costs as much as a failed authentication.
        Effect.tapErrorTag("NotFound", () => noteToken),
        Effect.map((text) =>
          HttpServerResponse.text(text, { contentType: "text/calendar; charset=utf-8", headers: FIELDS }),
        ),
        Effect.catchCause((cause) =>
          Effect.map(failureOfCause(cause), (failure) =>
            HttpServerResponse.text(failure.code === "not_found" ? UNKNOWN : FAILED, {
              status: errorStatus[failure.code],
              headers: { ...FIELDS, ...errorFields(failure) },
            }),
          ),
        ),
      )
    })
    yield* router.add("GET", PATH, answer)
  }),
)

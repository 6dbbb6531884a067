import { Operations } from "@tocsin/core/usecases/Operations"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorStatus } from "@tocsin/contract/api/ApiErrors"
import { FailedAuthentications } from "../request/authentication.ts"
import { RequestId } from "../request/RequestId.ts"
import { errorFields, type Failure, failureOfCause } from "../response/failures.ts"
import { type KnownRoute, pathOf } from "../routes.ts"
import { failedPage, LINK_FIELDS, linkPage, pageOf, UNKNOWN_LINK } from "./linkPage.ts"

const PATH = "/a/:token"
const METHODS = ["GET", "POST"] as const

/** The routes of links in messages. */
export const routes: ReadonlyArray<KnownRoute> = METHODS.map((method) => ({ method, path: PATH }))

const shown = (
  page: Parameters<typeof linkPage>[0],
  fields: Readonly<Record<string, string>> = {},
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(linkPage(page), {
    status: page.status,
    contentType: "text/html; charset=utf-8",
    headers: { ...LINK_FIELDS, ...fields },
  })

const pageOfFailure = (failure: Failure) =>
  failure.code === "not_found"
    ? shown(UNKNOWN_LINK)
    : shown(failedPage(errorStatus[failure.code]), errorFields(failure))

const unauthorized: Failure = { code: "unauthorized", message: "not found" }

/** Shows the incident of a link, and acknowledges it by a POST (docs/rules.md#links). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { followLink } = yield* Operations
    const { note } = yield* FailedAuthentications
    const answer = Effect.gen(function* () {
      const { method, url } = yield* HttpServerRequest.HttpServerRequest
      const [, , token = ""] = pathOf(url).split("/")
      const requestId = yield* RequestId
      const isPressed = method === "POST"
      return yield* followLink({ token, isPressed, requestId }).pipe(
        // An unknown token costs as much as a failed authentication.
        Effect.tapError((error) => (error._tag === "NotFound" ? note(unauthorized) : Effect.void)),
        Effect.map((link) => {
          const page = pageOf(link)
          // Programs that press the button read the status alone.
          const isRefused = isPressed && link.outcome === "worse"
          return shown(isRefused ? { ...page, status: 409 } : page)
        }),
        Effect.catchCause((cause) => Effect.map(failureOfCause(cause), pageOfFailure)),
      )
    })
    for (const method of METHODS) yield* router.add(method, PATH, answer)
  }),
)

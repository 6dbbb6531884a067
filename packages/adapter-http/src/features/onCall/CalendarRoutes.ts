import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { OnCall } from "@tocsin/core/features/onCall/OnCall"
import { errorStatus } from "@tocsin/contract/formats/Errors"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { FailedAuthentications } from "../../request/authentication.ts"
import { formOf, tagOf, versionOf } from "../../documents/StaticContent.ts"
import { errorFields, failureOfCause } from "../../response/failures.ts"
import { type KnownRoute, pathOf } from "../../routes.ts"

const compress = promisify(gzip)

const PATHS = ["/on-call/:token", "/on-call/:token/:file"] as const

export const routes: ReadonlyArray<KnownRoute> = PATHS.map((path) => ({ method: "GET", path }))

const ENDING = ".ics"

const UNKNOWN = "This calendar is not known. Copy its whole address from the rota in Tocsin.\n"
const FAILED = "Tocsin cannot answer now. Try again in a moment.\n"

/** Programs look at the type first; search engines must not list who is on call. */
const FIELDS = { "x-robots-tag": "noindex, nofollow, noarchive" }
const CALENDAR_FIELDS = {
  ...FIELDS,
  "cache-control": "private, no-cache",
  "content-type": "text/calendar; charset=utf-8",
  vary: "accept-encoding",
}

/** Answers the calendar of a rota to programs that subscribe to it (docs/rules.md#calendars). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { calendar } = yield* OnCall
    const { noteToken } = yield* FailedAuthentications
    const answer = Effect.gen(function* () {
      const { headers, url } = yield* HttpServerRequest.HttpServerRequest
      const [, , ...names] = pathOf(url).split("/")
      const file = names.at(-1) ?? ""
      // An ending that is missing makes another token.
      const name = file.endsWith(ENDING) ? file.slice(0, -ENDING.length) : ""
      const [token = "", rota] = names.length === 1 ? [name] : [names[0], name]
      return yield* calendar(token, rota).pipe(
        // An unknown token costs as much as a failed authentication.
        Effect.tapErrorTag("NotFound", () => noteToken),
        Effect.flatMap((text) => {
          const etag = tagOf(versionOf(text))
          const form = formOf(etag, headers)
          if (form === "unchanged")
            return Effect.succeed(
              HttpServerResponse.empty({ status: 304, headers: { ...CALENDAR_FIELDS, etag } }),
            )
          const making = Effect.promise(async () =>
            form === "gzip" ? await compress(text) : Buffer.from(text),
          )
          return Effect.map(making, (bytes) =>
            HttpServerResponse.uint8Array(bytes, {
              headers: { ...CALENDAR_FIELDS, etag, ...(form === "gzip" && { "content-encoding": "gzip" }) },
              contentType: CALENDAR_FIELDS["content-type"],
            }),
          )
        }),
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
    for (const path of PATHS) yield* router.add("GET", path, answer)
  }),
)

import { errorStatus } from "@tocsin/contract/formats/Errors"
import { loadWords, wordsOf } from "@tocsin/contract/languages/Languages"
import { PublicPages } from "@tocsin/core/features/publicPages/PublicPages"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorResponse } from "../../response/failures.ts"
import { RequestId } from "../../response/headerFields.ts"
import { type KnownRoute, pathOf } from "../../routes.ts"
import { formOf } from "../../documents/StaticContent.ts"
import { inForm, statusAnswer } from "./statusAnswers.ts"
import { wantsHtml } from "../../pages/PageRoutes.ts"
import { missingPage, PAGE_FIELDS } from "./publicPage.ts"

const PAGE = "/status/:page"
const FILE = "/status/:page/:file"

export const routes: ReadonlyArray<KnownRoute> = [PAGE, FILE].map(
  (path) => ({ method: "GET", path }) as KnownRoute,
)

const PATH = /^\/status\/([a-z0-9][a-z0-9-]{0,62})(\.json|\.atom|\/[a-z0-9-]{1,63}\.svg)?$/

export const statusFileOf = (path: string) => {
  const [, name, file = ""] = PATH.exec(path) ?? []
  return name === undefined ? undefined : { name, file }
}

/** Whether an address is of what other pages may show: the JSON, the feed or a picture of a page. */
export const isPublicFile = (url: string): boolean => (statusFileOf(pathOf(url))?.file ?? "") !== ""

const NO_PAGE = "no page of the policy has this address: check the names of the page and of its file"
const NO_FEED =
  "a feed needs the address at which readers reach this server: set SERVICE_PUBLIC_URL, or save the public address in Settings"
const RETRY_SECONDS = "15"

/** Answers with public pages to everyone (docs/rules.md#public-pages). */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { find, publicUrl } = yield* PublicPages
    const answer = Effect.gen(function* () {
      const { headers, url } = yield* HttpServerRequest.HttpServerRequest
      const requestId = yield* RequestId
      const asked = statusFileOf(pathOf(url))
      const page = asked === undefined ? "unknown" : yield* find(asked.name)
      if (page !== "unknown")
        yield* Effect.promise(() => loadWords(["unreadyIn" in page ? page.unreadyIn : page.lang]))
      if (page !== "unknown" && "unreadyIn" in page)
        return HttpServerResponse.text(`${wordsOf(page.unreadyIn).page.unready}\n`, {
          status: errorStatus.not_ready,
          headers: { "retry-after": RETRY_SECONDS, refresh: RETRY_SECONDS },
        })
      const file = asked?.file ?? ""
      const making = page === "unknown" ? undefined : statusAnswer(page, file, publicUrl())
      if (making === undefined) {
        const message = page !== "unknown" && file === ".atom" ? NO_FEED : NO_PAGE
        if (message === NO_PAGE && wantsHtml(headers["accept"]))
          return HttpServerResponse.text(missingPage, {
            status: errorStatus.not_found,
            headers: { ...PAGE_FIELDS, vary: "accept" },
          })
        return errorResponse({ code: "not_found", message }, requestId)
      }
      const made = yield* Effect.promise(() => making)
      const { bytes, fields, status } = inForm(made, formOf(made.etag, headers))
      return bytes === undefined
        ? HttpServerResponse.empty({ status, headers: fields })
        : HttpServerResponse.uint8Array(bytes, {
            status,
            headers: fields,
            contentType: fields["content-type"],
          })
    })
    yield* router.add("GET", PAGE, answer)
    yield* router.add("GET", FILE, answer)
  }),
)

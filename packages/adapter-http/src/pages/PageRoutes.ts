import { hash } from "node:crypto"
import * as Instant from "@tocsin/contract/Instant"
import { HealthExamination } from "@tocsin/core/health/HealthExamination"
import { Duration, Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { KnownRoute } from "../routes.ts"
import * as ConsoleRoutes from "./ConsoleRoutes.ts"
import { Readiness } from "@tocsin/core/health/Readiness"
import { firstPage } from "./firstPage.ts"
import { type About, type ServiceState, stateDocument } from "./ServiceState.ts"
import { stylesheet } from "./stylesheet.ts"
import { wantsHtml } from "./wantsHtml.ts"

const FIRST = "/"
const ROBOTS = "/robots.txt"

/** Requests need no token, so the storage is read no more often than this. */
const LOOK_EVERY = Duration.seconds(5)

/** The page loads only its own style and icon, and stands in no frame. */
const PAGE_FIELDS = {
  "content-security-policy":
    `default-src 'none'; style-src 'sha256-${hash("sha256", stylesheet, "base64")}'; img-src data:; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  vary: "Accept",
} as const

// Search engines must not index monitoring.
const robots = HttpServerResponse.text("User-agent: *\nDisallow: /\n")

/** What the pages depend on besides the service. */
export interface PageOptions {
  /** Served to browsers at `/`; without it they get a page that says whether the service is well. */
  readonly console?: ConsoleRoutes.ConsoleFiles | undefined
  readonly trustedHops?: number | undefined
}

const layer = (
  about: About,
  options: PageOptions,
): Layer.Layer<never, never, HttpRouter.HttpRouter | Readiness | HealthExamination> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const startedAt = yield* Instant.now
      const { isReady, isDraining } = yield* Readiness
      const { examine } = yield* HealthExamination
      const look = yield* Effect.cachedWithTTL(examine(false), LOOK_EVERY)
      const state = Effect.gen(function* (): Effect.fn.Return<ServiceState> {
        const ready = yield* isReady
        const upFor = Duration.nanos(((yield* Instant.now) - startedAt) * 1_000n)
        const stopping = { state: "stopping" } as const
        // No request waits for a storage that is known to be down.
        const health = isDraining() ? stopping : ready ? yield* look : AWAY
        return { ...about, startedAt, upFor, isReady: ready, health }
      })
      const console =
        options.console === undefined
          ? undefined
          : yield* ConsoleRoutes.make(options.console, options.trustedHops ?? 0)
      const answer = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
        const isForPeople = wantsHtml(request.headers["accept"])
        if (isForPeople && console !== undefined) return yield* console.page(request)
        const found = yield* state
        return isForPeople
          ? HttpServerResponse.text(firstPage(found), {
              contentType: "text/html; charset=utf-8",
              headers: PAGE_FIELDS,
            })
          : HttpServerResponse.jsonUnsafe(stateDocument(found), { headers: { vary: PAGE_FIELDS.vary } })
      })
      return Layer.mergeAll(
        HttpRouter.add("GET", FIRST, answer),
        HttpRouter.add("GET", ROBOTS, robots),
        console?.layer ?? Layer.empty,
      )
    }),
  )

const AWAY = {
  state: "unwell",
  faults: [{ name: "storage_answers", text: "the storage cannot be reached or written to" }],
} as const

/**
 * The first page, for people and for programs, and robots.txt. They contain nothing that needs a
 * token.
 */
export const make = (about: About, options: PageOptions) => ({
  layer: layer(about, options),
  routes: [
    ...([FIRST, ROBOTS] as const).map((path): KnownRoute => ({ method: "GET", path })),
    ...(options.console === undefined ? [] : ConsoleRoutes.routes),
  ],
})

import { Effect, Fiber, Layer } from "effect"
import { HttpRouter } from "effect/http"
import type { KnownRoute } from "../routes.ts"
import { opsDocument, v1Document } from "./documents.ts"
import type { JsonObject } from "./plainSchema.ts"
import * as StaticContent from "./StaticContent.ts"
import { type OfferedDocument, PAGE, POLICY, SCRIPT, STYLE, viewerFiles, viewerPage } from "./viewer.ts"

interface ServedDocument extends OfferedDocument {
  readonly path: `/${string}`
  readonly make: () => JsonObject
}

/** The document of the v1 API. */
export const v1: ServedDocument = {
  name: "v1",
  title: "v1",
  path: "/openapi.json",
  make: v1Document,
}

/** The document of /ops/v1. */
export const ops: ServedDocument = {
  name: "operations",
  title: "Operations",
  path: "/ops/v1/openapi.json",
  make: opsDocument,
}

/** Clients revalidate each time, because the next version of the server has another text. */
const revalidated = (type: string) => ({ "content-type": type, "cache-control": "no-cache" })

const asText = ({ make }: ServedDocument) =>
  Effect.suspend(() => StaticContent.make(JSON.stringify(make()), revalidated("application/json")))

const page = Effect.fnUntraced(function* (documents: ReadonlyArray<ServedDocument>) {
  const files = yield* viewerFiles
  const headers = { ...revalidated("text/html; charset=utf-8"), "content-security-policy": POLICY }
  return { ...files, html: yield* StaticContent.make(viewerPage(documents, files), headers) }
})

/**
 * Makes a content once, at the first request for it, in a fiber of the server, so that a client
 * that hangs up does not interrupt it.
 */
const madeOnce = Effect.fnUntraced(function* <A>(content: Effect.Effect<A>) {
  const making = yield* Effect.cached(Effect.forkIn(content, yield* Effect.scope))
  return Effect.flatMap(making, Fiber.join)
})

const served = (path: `/${string}`, content: Effect.Effect<StaticContent.StaticContent>) =>
  HttpRouter.add("GET", path, Effect.flatMap(content, StaticContent.respond))

/**
 * The documents at their paths, and a viewer at /docs. Each is made at the first request for it.
 */
export const layer = (documents: ReadonlyArray<ServedDocument>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const viewer = yield* madeOnce(page(documents))
      const texts = yield* Effect.forEach(documents, (document) =>
        Effect.map(madeOnce(asText(document)), (text) => served(document.path, text)),
      )
      return Layer.mergeAll(
        served(
          PAGE,
          Effect.map(viewer, ({ html }) => html),
        ),
        served(
          SCRIPT,
          Effect.map(viewer, ({ script }) => script),
        ),
        served(
          STYLE,
          Effect.map(viewer, ({ style }) => style),
        ),
        ...texts,
      )
    }),
  )

/** The routes of the viewer. */
export const viewerRoutes: ReadonlyArray<KnownRoute> = [PAGE, SCRIPT, STYLE].map((path) => ({
  method: "GET",
  path,
}))

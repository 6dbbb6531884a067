import { Effect, Layer } from "effect"
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
 * The documents at their paths, and a viewer at /docs. Each is made at the first request for it.
 */
export const layer = (documents: ReadonlyArray<ServedDocument>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const viewer = yield* StaticContent.madeOnce(page(documents))
      const texts = yield* Effect.forEach(documents, (document) =>
        Effect.map(StaticContent.madeOnce(asText(document)), (text) =>
          StaticContent.served(document.path, text),
        ),
      )
      const file = (path: `/${string}`, name: "html" | "script" | "style") =>
        StaticContent.served(
          path,
          Effect.map(viewer, (files) => files[name]),
        )
      return Layer.mergeAll(file(PAGE, "html"), file(SCRIPT, "script"), file(STYLE, "style"), ...texts)
    }),
  )

/** The routes of the viewer. */
export const viewerRoutes: ReadonlyArray<KnownRoute> = [PAGE, SCRIPT, STYLE].map((path) => ({
  method: "GET",
  path,
}))

import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiSwagger } from "effect/http-api"
import type { KnownRoute } from "../routes.ts"
import { opsDocument, v1Document } from "./documents.ts"
import type { JsonObject } from "./errorResponses.ts"
import * as StaticContent from "./StaticContent.ts"

/** A document, and its name in the viewer's address and in its title. */
interface ServedDocument {
  readonly name: string
  readonly title: string
  readonly path: `/${string}`
  readonly make: () => JsonObject
}

export const v1: ServedDocument = { name: "v1", title: "v1", path: "/openapi.json", make: v1Document }

export const ops: ServedDocument = {
  name: "operations",
  title: "Operations",
  path: "/ops/v1/openapi.json",
  make: opsDocument,
}

/** Starts the viewer with the document that the page's address names, or with the first. */
const startScript = `
window.onload = () => {
  const links = Array.from(document.querySelectorAll("nav a[data-document]"))
  const wanted = new URLSearchParams(location.search).get("document")
  const chosen = links.find((link) => link.dataset.name === wanted) ?? links[0]
  chosen.setAttribute("aria-current", "page")
  SwaggerUIBundle({
    url: new URL(chosen.dataset.document, location.href).href,
    dom_id: "#viewer",
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
  })
}
`

/** The bar above the viewer, with the documents to choose from. */
const viewerStyle = `
body { margin: 0; background: #fff; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; padding: 0.75rem 1.5rem; background: #1b2733; font: 600 0.95rem/1.5 system-ui, sans-serif; }
nav a { color: #c9d6e2; text-decoration: none; border-bottom: 2px solid transparent; }
nav a:hover, nav a:focus-visible { color: #fff; }
nav a[aria-current] { color: #fff; border-color: #ffb454; }
nav .name { color: #fff; margin-right: auto; }
.no-script { padding: 1.5rem; font: 1rem/1.5 system-ui, sans-serif; }
`

/** A page of effect's viewer for an empty API: only its copy of Swagger UI is needed. */
const swaggerPage = Effect.acquireUseRelease(
  Effect.sync(() =>
    HttpRouter.toWebHandler(HttpApiSwagger.layer(HttpApi.make("none"), { path: "/" }), {
      disableLogger: true,
    }),
  ),
  ({ handler }) =>
    Effect.promise(async () => {
      const page = await handler(new Request("http://viewer/"))
      return await page.text()
    }),
  ({ dispose }) => Effect.promise(dispose),
)

const contentOf = (page: string, element: "script" | "style"): string =>
  new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(page)?.[1] ?? ""

const NOTICE = "/* Swagger UI, https://github.com/swagger-api/swagger-ui, Apache License 2.0 */"

/** The paths of the page and its files. The page refers to them relatively: it may be mounted anywhere. */
const PAGE = "/docs" as const
const SCRIPT = "/docs/viewer.js" as const
const STYLE = "/docs/viewer.css" as const

const relative = (path: string): string => path.slice(1)

/** Clients revalidate each time, because the next version of the server has another text. */
const revalidated = (type: string) => ({ "content-type": type, "cache-control": "no-cache" })

/**
 * The page and its files: Swagger UI from `effect`, with a start of ours. It loads two megabytes, so
 * it is made on demand, and keeps half a megabyte.
 */
const viewer = Effect.fnUntraced(function* (documents: ReadonlyArray<ServedDocument>) {
  const page = yield* swaggerPage
  const file = (element: "script" | "style", start: string, type: string) =>
    StaticContent.makeVersioned([NOTICE, contentOf(page, element), start].join("\n"), type)
  // startScript replaces the start of effect's own page.
  const script = yield* file("script", startScript, "text/javascript")
  const style = yield* file("style", viewerStyle, "text/css")
  const links = documents.map(
    ({ name, title, path }) =>
      `<a href="?document=${name}" data-name="${name}" data-document="${relative(path)}">${title}</a>`,
  )
  const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Tocsin API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${relative(STYLE)}?v=${style.version}">
    <script src="${relative(SCRIPT)}?v=${script.version}" defer></script>
  </head>
  <body>
    <nav>
      <span class="name">Tocsin API</span>
      ${links.join("\n      ")}
    </nav>
    <main id="viewer">
      <noscript><p class="no-script">This page needs JavaScript. The documents are there without:
        ${documents.map(({ path }) => `<a href="${relative(path)}">${path}</a>`).join(", ")}.</p></noscript>
    </main>
  </body>
</html>
`
  const headers = {
    ...revalidated("text/html; charset=utf-8"),
    "content-security-policy": StaticContent.PAGE_POLICY,
  }
  return { script, style, html: yield* StaticContent.make(html, headers) }
})

/** The documents at their paths, and a viewer at /docs. Each is made at the first request for it. */
export const layer = (documents: ReadonlyArray<ServedDocument>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const files = yield* StaticContent.madeOnce(viewer(documents))
      const file = (path: `/${string}`, name: "html" | "script" | "style") =>
        StaticContent.served(
          path,
          Effect.map(files, (made) => made[name]),
        )
      const texts = yield* Effect.forEach(documents, ({ make, path }) => {
        const text = Effect.suspend(() =>
          StaticContent.make(JSON.stringify(make()), revalidated("application/json")),
        )
        return Effect.map(StaticContent.madeOnce(text), (made) => StaticContent.served(path, made))
      })
      return Layer.mergeAll(file(PAGE, "html"), file(SCRIPT, "script"), file(STYLE, "style"), ...texts)
    }),
  )

export const viewerRoutes: ReadonlyArray<KnownRoute> = [PAGE, SCRIPT, STYLE].map((path) => ({
  method: "GET",
  path,
}))

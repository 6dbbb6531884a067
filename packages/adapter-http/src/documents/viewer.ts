import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiSwagger } from "effect/http-api"
import * as StaticContent from "./StaticContent.ts"

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

/** The files of the viewer's page. */
export interface ViewerFiles {
  readonly script: StaticContent.StaticContent
  readonly style: StaticContent.StaticContent
}

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

/**
 * Swagger UI from `effect`, with its start. It loads two megabytes, so it is made on demand, and
 * keeps half a megabyte.
 */
export const viewerFiles: Effect.Effect<ViewerFiles> = Effect.gen(function* () {
  const page = yield* swaggerPage
  // startScript replaces the start of effect's own page.
  const script = [NOTICE, contentOf(page, "script"), startScript].join("\n")
  const style = [NOTICE, contentOf(page, "style"), viewerStyle].join("\n")
  return {
    script: yield* StaticContent.makeVersioned(script, "text/javascript"),
    style: yield* StaticContent.makeVersioned(style, "text/css"),
  }
})

/** A document that the viewer offers. */
export interface OfferedDocument {
  /** Its name in the page's address. */
  readonly name: string
  readonly title: string
  /** Its path. */
  readonly path: string
}

/**
 * The paths of the page and its files. The page refers to them relatively: it may be mounted
 * anywhere.
 */
export const PAGE = "/docs" as const
export const SCRIPT = "/docs/viewer.js" as const
export const STYLE = "/docs/viewer.css" as const

/**
 * The page loads and calls only its own origin, runs no inline script, and stands in no frame. The
 * style sheet contains its icons.
 */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

const relative = (path: string): string => path.slice(1)

const linkTo = ({ name, title, path }: OfferedDocument): string =>
  `<a href="?document=${name}" data-name="${name}" data-document="${relative(path)}">${title}</a>`

/** The page of the viewer. */
export const viewerPage = (
  documents: ReadonlyArray<OfferedDocument>,
  { script, style }: ViewerFiles,
): string => `<!doctype html>
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
      ${documents.map(linkTo).join("\n      ")}
    </nav>
    <main id="viewer">
      <noscript><p class="no-script">This page needs JavaScript. The documents are there without:
        ${documents.map(({ path }) => `<a href="${relative(path)}">${path}</a>`).join(", ")}.</p></noscript>
    </main>
  </body>
</html>
`

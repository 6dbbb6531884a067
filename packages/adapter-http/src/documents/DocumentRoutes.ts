import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiSwagger } from "effect/http-api"
import type { KnownRoute } from "../routes.ts"
import type { JsonObject } from "./errorResponses.ts"
import * as StaticContent from "./StaticContent.ts"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { openApiDocument } from "./openApiDocument.ts"
import { opsTags } from "../features.ts"
import { v1Tags } from "./v1Operations.ts"

/** How to use the v1 API, in CommonMark. */
const overview = `
Agents push heartbeats and check results. Tocsin decides what changed, opens and resolves incidents,
and notifies. The v1 contract is frozen. \`/ops/v1/openapi.json\` describes what operators can do
beyond it.

## Tokens

Send a token as \`Authorization: Bearer TOKEN\`: 1 to 512 visible ASCII characters.

- **Agent key**: generated and kept by the agent, for \`/heartbeat\` and \`/events\` only. The first
  heartbeat registers it. Its events count once an operator has accepted it. Tocsin stores a hash and
  a fingerprint of it.
- **Operator token**: one of \`SERVICE_AUTH_TOKEN\`, for everything else. One of
  \`SERVICE_READ_TOKEN\` only reads; a change with it is 403 \`forbidden\`.

## Requests and answers

- A body is JSON in UTF-8 of at most 1 MiB, without a Content-Encoding. A larger one is 413. Unknown
  fields are refused. Unknown query parameters are ignored; a known one that is repeated, empty or
  malformed is 400.
- Timestamps are RFC 3339 in UTC, \`Z\` or \`+00:00\`, to the microsecond. Answers have three fraction
  digits, or six.
- Hostnames, label values, incident keys and cursors contain no control characters. Label keys that
  look like secrets are refused. \`output\` is limited in bytes of UTF-8, not in characters.
- Every answer has a header \`X-Request-Id\`: that of the request if it has 1 to 128 letters, digits or
  \`. _ : -\`, otherwise a new one.
- HEAD works wherever GET does. An unknown path is 404 \`not_found\`. So is an unknown method of a known
  path; its answer has a header \`Allow\`.
- A request that never becomes complete HTTP (too slow, head too large, malformed, not exactly one
  Host) is answered 400, 408 or 431.

## Lists

A page has \`items\` and cursors. Pass its \`next_cursor\` as \`cursor\` for the next page, or its
\`prev_cursor\` with \`back=true\` for the previous one. At the ends they are null or absent. A cursor is
opaque, has at most 512 characters, and belongs to one list with its filters, sort and direction.
\`limit\` (1 to 500, by default 100) may change between pages. A cursor stays valid when its row is
deleted. A walk returns every row that exists throughout and keeps its place exactly once.

## Rates

Heartbeats are limited by key, registrations of unknown keys by address, and pending agents by their
number. Beyond a limit the answer is 429 with \`Retry-After\` in seconds. Events of accepted keys are not
limited. An address that sends too many requests without a valid token gets 401 as always, and loses
its connection each time. One that sends too much with keys that are not accepted gets 429, or 403 for events, before Tocsin reads its
bodies. Valid tokens and accepted keys always pass.

## Errors

Every error has the same body: \`error.code\` for programs, \`error.message\` for people, and
\`error.request_id\` to find it in the log. Retry 429 and 5xx, after \`Retry-After\` if it is given.
Heartbeats, events and reads are safe to repeat. Blocking an agent is not.
`.trim()

const opsOverview = `
What operators do beyond the frozen v1 contract (\`/openapi.json\`): dead letters, notifier tests,
repairs of checks, explanations. It may grow, but existing parts keep their meaning. Tokens, request
ids, timestamps and errors are those of v1: a token of \`SERVICE_AUTH_TOKEN\` does everything, one of
\`SERVICE_READ_TOKEN\` reads, and one of a named operator does what its role includes.
`.trim()

/** The document of the frozen v1 contract: /openapi.json. */
export const v1Document = (): JsonObject =>
  openApiDocument(TocsinApi, {
    description: overview,
    server: ".",
    hasIdempotencyKeys: false,
    tags: v1Tags,
    responses: {},
    messages: {},
  })

/** The document of what operators do beyond it: /ops/v1/openapi.json. */
export const opsDocument = (): JsonObject =>
  openApiDocument(OpsApi, {
    description: opsOverview,
    server: "../..",
    hasIdempotencyKeys: true,
    tags: opsTags,
    responses: {
      NotFound: "No object has that name or id.",
      Conflict: "The current state does not allow it.",
    },
    messages: {
      rate_limited: "this process serves 100 streams already; poll instead, and try again in 15 s",
      conflict:
        "this outbox item has not failed, so it cannot be replayed; list failed items with GET /api/v1/notifiers/outbox?state=failed",
    },
  })

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

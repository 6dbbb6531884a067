import { Effect, Layer } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as StaticContent from "../documents/StaticContent.ts"
import type { KnownRoute } from "../routes.ts"

/** The program and the style of the console. */
export interface ConsoleFiles {
  readonly script: string
  readonly style: string
}

const SCRIPT = "/console/app.js"
const STYLE = "/console/app.css"

/** The routes of the console's files. */
export const routes: ReadonlyArray<KnownRoute> = ([SCRIPT, STYLE] as const).map((path) => ({
  method: "GET",
  path,
}))

const PAGE_FIELDS = {
  "content-security-policy": `${StaticContent.PAGE_POLICY}; require-trusted-types-for 'script'`,
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
  vary: "Accept, X-Forwarded-Prefix",
} as const

/** A prefix that a proxy strips; anything else in the header is ignored. */
const PREFIX = /^(?:\/[A-Za-z0-9._~-]+){1,16}$/

/** The path of the page as a browser has it. Express keeps it whole beside what it leaves of `url`. */
const pathOf = ({ originalUrl, source }: HttpServerRequest.HttpServerRequest): string => {
  const whole = "originalUrl" in source ? String(source.originalUrl) : originalUrl
  return URL.parse(whole, "http://localhost")?.pathname ?? "/"
}

/**
 * Where the console's files are, as a browser reaches them: below the page's path. Without a trusted
 * prefix they are addressed relatively, which suits every proxy that keeps a slash at the end.
 */
const baseOf = (request: HttpServerRequest.HttpServerRequest, trustedHops: number): string => {
  const path = pathOf(request)
  const below = path.endsWith("/") ? path : `${path}/`
  const prefix = request.headers["x-forwarded-prefix"]?.replace(/\/$/, "") ?? ""
  const isTrusted = trustedHops > 0 && PREFIX.test(prefix) && !prefix.split("/").includes("..")
  return isTrusted ? prefix + below : below.slice(path.lastIndexOf("/") + 1)
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%23b3261e'/%3E%3Cpath fill='%23fff' d='M16 6a7 7 0 0 0-7 7v5l-3 4h20l-3-4v-5a7 7 0 0 0-7-7zM13 24a3 3 0 0 0 6 0z'/%3E%3C/svg%3E"

const pageText = (base: string, script: string, style: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tocsin</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${base}${STYLE.slice(1)}?v=${style}">
<script type="module" src="${base}${SCRIPT.slice(1)}?v=${script}"></script>
</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript. The API works without: see <a href="${base}docs">its reference</a>.</noscript>
</body>
</html>
`

/**
 * The console: its files as routes, and its page for requests of `/` that accept HTML. The files are
 * made ready at the first request for one.
 */
export const make = Effect.fnUntraced(function* (files: ConsoleFiles, trustedHops: number) {
  const made = yield* StaticContent.madeOnce(
    Effect.all({
      script: StaticContent.makeVersioned(files.script, "text/javascript"),
      style: StaticContent.makeVersioned(files.style, "text/css"),
    }),
  )
  const script = Effect.map(made, (content) => content.script)
  const style = Effect.map(made, (content) => content.style)
  return {
    layer: Layer.merge(StaticContent.served(SCRIPT, script), StaticContent.served(STYLE, style)),
    page: (request: HttpServerRequest.HttpServerRequest) =>
      Effect.map(made, (content) =>
        HttpServerResponse.text(
          pageText(baseOf(request, trustedHops), content.script.version, content.style.version),
          { contentType: "text/html; charset=utf-8", headers: PAGE_FIELDS },
        ),
      ),
  }
})

import type { ViewerFiles } from "./viewerFiles.ts"

/** A document that the viewer offers. */
export interface OfferedDocument {
  /** What the page's address names it by. */
  readonly name: string
  readonly title: string
  /** Its path. */
  readonly path: string
}

/** Where the page and its files are; the page leads to them relative to itself, because it may be mounted anywhere. */
export const PAGE = "/docs" as const
export const SCRIPT = "/docs/viewer.js" as const
export const STYLE = "/docs/viewer.css" as const

/**
 * What the page may do: load and ask nothing but its own origin, run nothing that stands in it, be in no frame. Images that
 * stand in the style sheet are icons.
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

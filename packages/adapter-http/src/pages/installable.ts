import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as StaticContent from "../documents/StaticContent.ts"
import type { KnownRoute } from "../routes.ts"

/** The files with which browsers install the page, and show its notifications. */
interface InstalledFiles {
  readonly worker?: string
  readonly icons?: Readonly<Record<string, string>>
}

const WORKER = "/sw.js"
/** Beside the page, as the worker is. */
export const MANIFEST = "/manifest.webmanifest"
const BESIDE = [WORKER, MANIFEST] as const

/** The worker calls its own origin, and loads nothing. Browsers look for a newer one, so none is kept. */
const WORKER_FIELDS = {
  "content-type": "text/javascript; charset=utf-8",
  "cache-control": "no-cache",
  "content-security-policy": "default-src 'none'; connect-src 'self'",
} as const

/** All addresses are relative to that of the manifest, beside the page, whatever a proxy strips. */
const manifest = JSON.stringify({
  name: "Tocsin",
  short_name: "Tocsin",
  description: "Monitoring",
  start_url: "./",
  scope: "./",
  display: "standalone",
  background_color: "#f4f2ed",
  theme_color: "#b3261e",
  icons: [
    { src: "console/icon-192.png", sizes: "192x192", type: "image/png" },
    { src: "console/icon-512.png", sizes: "512x512", type: "image/png" },
    { src: "console/icon-maskable.png", sizes: "512x512", type: "image/png", purpose: "maskable" },
  ],
})

const MANIFEST_FIELDS = {
  "content-type": "application/manifest+json; charset=utf-8",
  "cache-control": "no-cache",
} as const

const iconsOf = ({ icons = {} }: InstalledFiles) =>
  Object.entries(icons).map(([name, base64]) => ({ path: `/console/${name}` as const, base64 }))

const ICON_FIELDS = { "content-type": "image/png", "cache-control": "public, max-age=86400" } as const

export const installedPaths = (files: InstalledFiles): ReadonlyArray<KnownRoute["path"]> => [
  ...(files.worker === undefined ? [] : BESIDE),
  ...iconsOf(files).map(({ path }) => path),
]

/** The routes by which the page can be installed, and shows notifications. */
export const installable = Effect.fnUntraced(function* (files: InstalledFiles) {
  const serve = Effect.fnUntraced(function* (
    path: `/${string}`,
    text: string,
    headers: Readonly<Record<string, string>>,
  ) {
    return StaticContent.served(path, yield* StaticContent.madeOnce(StaticContent.make(text, headers)))
  })
  const { worker } = files
  const beside =
    worker === undefined
      ? []
      : [yield* serve(WORKER, worker, WORKER_FIELDS), yield* serve(MANIFEST, manifest, MANIFEST_FIELDS)]
  const icons = iconsOf(files).map(({ base64, path }) =>
    HttpRouter.add(
      "GET",
      path,
      HttpServerResponse.uint8Array(Buffer.from(base64, "base64"), { headers: ICON_FIELDS }),
    ),
  )
  return [...beside, ...icons]
})

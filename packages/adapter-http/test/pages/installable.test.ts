import { assert, describe, it } from "@effect/vitest"
import { HealthExamination } from "@tocsin/core/heart/health/HealthExamination"
import { Effect, Layer, Redacted } from "effect"
import * as ApiServer from "../../src/HttpServer.ts"
import type { PageOptions } from "../../src/pages/PageRoutes.ts"
import { stubServices } from "../TestServer.ts"
import { send } from "../http.ts"

const PNG = Buffer.from("\x89PNG", "latin1").toString("base64")
const icons = { "icon-192.png": PNG, "icon-512.png": PNG, "icon-maskable.png": PNG }
const PATHS = ["/manifest.webmanifest", "/sw.js", "/console/icon-192.png"]

const served = <E>(
  console: PageOptions["console"],
  test: Effect.Effect<void, E, Layer.Success<ReturnType<typeof ApiServer.layerWithPages>>>,
) => {
  const server = ApiServer.layerWithPages(
    { host: "127.0.0.1", port: 0, operatorTokens: [Redacted.make("operator-token")], trustedHops: 1 },
    { version: "1.2.3", storage: "SQLite" },
    console,
  )
  const health = Layer.succeed(HealthExamination, {
    examine: () => Effect.succeed({ state: "well" } as const),
  })
  return Effect.provide(test, Layer.fresh(Layer.provide(server, [stubServices({}), health])))
}

describe("an installed page (docs/console.md)", () => {
  it.live("has a manifest, icons, and a worker that nothing keeps and that loads nothing", () =>
    served(
      { script: "1", style: "a{}", worker: "2", icons },
      Effect.gen(function* () {
        const read = yield* send("GET", "/manifest.webmanifest")
        assert.match(String(read.headers["content-type"]), /^application\/manifest\+json/)
        const manifest = JSON.parse(read.body)
        assert.deepInclude(manifest, { display: "standalone", start_url: "./", scope: "./" })
        assert.deepStrictEqual(
          manifest.icons.map(({ purpose, sizes }: { purpose?: string; sizes: string }) => [sizes, purpose]),
          [
            ["192x192", undefined],
            ["512x512", undefined],
            ["512x512", "maskable"],
          ],
        )
        for (const { src } of manifest.icons) {
          const { headers, status } = yield* send("GET", `/${src}`)
          assert.deepStrictEqual([status, headers["content-type"]], [200, "image/png"], src)
        }
        const worker = yield* send("GET", "/sw.js")
        assert.strictEqual(worker.headers["cache-control"], "no-cache")
        assert.strictEqual(
          worker.headers["content-security-policy"],
          "default-src 'none'; connect-src 'self'",
        )
        const page = yield* send("GET", "/", {
          headers: { accept: "text/html", "x-forwarded-prefix": "/watch" },
        })
        assert.include(page.body, '<link rel="manifest" href="/watch/manifest.webmanifest">')
        assert.include(page.body, '<link rel="apple-touch-icon" href="/watch/console/icon-192.png">')
      }),
    ),
  )

  it.live("is none without the console", () =>
    served(
      undefined,
      Effect.gen(function* () {
        for (const path of PATHS) assert.strictEqual((yield* send("GET", path)).status, 404, path)
      }),
    ),
  )
})

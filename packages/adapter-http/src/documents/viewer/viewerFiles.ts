import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiSwagger } from "effect/http-api"
import * as StaticContent from "../StaticContent.ts"
import { startScript } from "./startScript.ts"
import { viewerStyle } from "./viewerStyle.ts"

/** What the page of the viewer loads. */
export interface ViewerFiles {
  readonly script: StaticContent.StaticContent
  readonly style: StaticContent.StaticContent
}

/** A page of effect's own viewer, of an API without endpoints: Swagger UI itself is what is wanted of it. */
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

// A new version has a new address (see viewerPage), so what is kept is never asked for again.
const kept = (type: string) => ({
  "content-type": `${type}; charset=utf-8`,
  "cache-control": "public, max-age=31536000, immutable",
})

const NOTICE = "/* Swagger UI, https://github.com/swagger-api/swagger-ui, Apache License 2.0 */"

/**
 * Swagger UI as `effect` brings it, with what starts it here. Loads two megabytes, which a server that nobody asks for them
 * does without; half a megabyte of it is kept.
 */
export const viewerFiles: Effect.Effect<ViewerFiles> = Effect.gen(function* () {
  const page = yield* swaggerPage
  // What it starts by itself when the page is there, startScript replaces.
  const script = [NOTICE, contentOf(page, "script"), startScript].join("\n")
  const style = [NOTICE, contentOf(page, "style"), viewerStyle].join("\n")
  return {
    script: yield* StaticContent.make(script, kept("text/javascript")),
    style: yield* StaticContent.make(style, kept("text/css")),
  }
})

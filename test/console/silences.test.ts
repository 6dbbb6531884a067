import { describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { Site } from "./Site.ts"

const shared = Layer.merge(Browser.layer, Site.layer)

describe.skipIf(chromium === undefined)(`the form of a silence${skipped}`, () => {
  layer(shared, { excludeTestServices: true })((it) => {
    it.effect("counts the end of a silence whose start is past from now, as the service does", () =>
      Effect.gen(function* () {
        const { baseUrl } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${baseUrl}/#/silences`)
          await signIn(page)
          await page.getByLabel("For").fill("11:30")
          const fromNow = await page.getByText(/^Ends .*11:30/).textContent()
          await page.getByLabel("Starts").fill("2020-01-02T00:00")
          await page.getByText(`Starts now. ${fromNow}`).waitFor()
        })
      }),
    )
  })
})

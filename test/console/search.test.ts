import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { Site } from "./Site.ts"

const shared = Layer.merge(Browser.layer, Site.layer)

describe.skipIf(chromium === undefined)(`a search of incidents${skipped}`, () => {
  layer(shared, { excludeTestServices: true })((it) => {
    it.effect("by an agent lists its own first, then those of agents that are named like it", () =>
      Effect.gen(function* () {
        const { baseUrl, demo } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const severities = { "host-p1": "warning", "host-p10": "critical", "host-p11": "warning" } as const
          for (const [id, status] of Object.entries(severities)) {
            await demo.join(id)
            // Its key names no agent: only its members do.
            await demo.report(id, [{ check_id: "disk", status, output: `disk of ${id}` }])
          }
          const shared = { check_id: "http", status: "critical", incident_key: "shop" } as const
          for (const id of ["host-p10", "host-p1"])
            await demo.report(id, [{ ...shared, output: "shop is down" }])
          const { page } = await openConsole(context, `${baseUrl}/#/incidents?filter=host-p1`)
          await signIn(page)
          const links = page.getByRole("list", { name: "Incidents" }).getByRole("link")
          const last = links.filter({ hasText: "disk of host-p11" })
          await last.waitFor()
          assert.deepStrictEqual(await links.allTextContents(), [
            "shop",
            "shop is down",
            "host-p1/disk",
            "disk of host-p1",
            "host-p10/disk",
            "disk of host-p10",
            "host-p11/disk",
            "disk of host-p11",
          ])
          await page.goto(`${baseUrl}/#/incidents?filter=host-p1/`)
          await last.waitFor({ state: "detached" })
          await links.filter({ hasText: /^disk of host-p1$/ }).waitFor()
          assert.strictEqual(await links.count(), 4)
        })
      }),
    )
  })
})

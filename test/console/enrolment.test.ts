import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { startMonitor } from "./Site.ts"

describe.skipIf(chromium === undefined)(`enrolment in the console${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("shows each part of a waiting key below its head, also to a reader", () =>
      Effect.gen(function* () {
        const { baseUrl, demo, monitor } = yield* startMonitor()
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const token = await demo.addOperator("eve", "read")
          await monitor.heartbeat("key", {
            agent_id: "web-1",
            observed_at: new Date(0).toISOString(),
            hostname: "web-1.example",
            features: { push: true, metrics: false },
          })
          const { page } = await openConsole(context, `${baseUrl}/#/admission`)
          await signIn(page, token)
          const row = page.getByRole("list", { name: "Waiting keys" }).getByRole("listitem")
          const left = async (part: Locator) => Math.round((await part.boundingBox())?.x ?? -1)
          const heads = page.locator(".heads")
          const [agent, host] = [heads.getByText("Agent"), heads.getByText("Host")]
          assert.strictEqual(await left(row.getByText("web-1", { exact: true })), await left(agent))
          assert.strictEqual(await left(row.getByText("web-1.example")), await left(host))
        })
      }),
    )

    it.effect("makes a line for hosts with the agent where the server hands out none", () =>
      Effect.gen(function* () {
        const { baseUrl, monitor } = yield* startMonitor()
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${baseUrl}/#/admission`)
          await signIn(page)
          await page.getByLabel("Hosts").fill("1001")
          await page.getByRole("button", { name: "Add a host" }).click()
          await page.getByRole("alert").getByText("Hosts must be").waitFor()
          await page.getByLabel("Hosts").fill("2")
          await page.getByRole("button", { name: "Add a host" }).click()
          const line = page.locator("code", { hasText: "tocsin-agent start" })
          const [, token = "", server] =
            /^TOCSIN_ENROLMENT_TOKEN=(\S+) tocsin-agent start --server (\S+)$/.exec(
              (await line.textContent()) ?? "",
            ) ?? []
          assert.strictEqual(server, baseUrl)
          const features = { push: true, metrics: false }
          await monitor.heartbeat("key", {
            agent_id: "web-1",
            observed_at: new Date(0).toISOString(),
            hostname: "web-1.example",
            features,
          })
          assert.deepStrictEqual(await monitor.enrol("key", "web-1", { token }), { accepted: true })
          await page.getByRole("button", { name: "Done" }).click()
          await line.waitFor({ state: "detached" })
          const { items } = await monitor.enrolments.list()
          assert.deepStrictEqual(
            items.map(({ used, uses }) => [used, uses]),
            [[1, 2]],
          )
          await page.getByText("Enrolment lines").click()
          const row = page.getByRole("list", { name: "Enrolments" }).getByRole("listitem")
          await row.getByText("1 of 2 hosts").waitFor()
          await row.getByRole("button", { name: "Remove" }).click()
          await row.waitFor({ state: "detached" })
          assert.isEmpty((await monitor.enrolments.list()).items)
        })
      }),
    )
  })
})

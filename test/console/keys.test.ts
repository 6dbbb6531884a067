import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { AT_LENGTH } from "../properties/atLength.ts"
import { Browser, chromium, openConsole, openContext, signIn, skippedAtLength } from "./Console.ts"
import { Site } from "./Site.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

const shared = Layer.merge(Browser.layer, Site.layer)

describe.skipIf(chromium === undefined || !AT_LENGTH)(
  `keys while a box has the focus${skippedAtLength}`,
  () => {
    layer(shared, { excludeTestServices: true })((it) => {
      const test = testsFrom(Site, it.effect)

      test("select waiting keys, where the box is what the focus moves to", function* ({ baseUrl, demo }) {
        const context = yield* openContext
        yield* Effect.promise(async () => {
          for (const id of ["wait-1", "wait-2", "wait-3", "wait-4"]) await demo.heartbeat(id)
          const { page } = await openConsole(context, `${baseUrl}/#/admission`)
          await signIn(page)
          await page.getByLabel("Select wait-4").waitFor()
          const selected = (count: number) =>
            page.getByRole("status").getByText(`${count} selected`).waitFor()
          for (const key of ["j", "x"]) await page.keyboard.press(key)
          await selected(1)
          for (const key of ["j", "j", "X"]) await page.keyboard.press(key)
          await selected(3)
          // A box takes the space bar as ever.
          for (const key of ["k", " "]) await page.keyboard.press(key)
          await selected(2)
          await page.locator('[aria-label="Select wait-2"]:focus').waitFor()
          for (const key of ["g", "a"]) await page.keyboard.press(key)
          await page.getByRole("heading", { name: "Agents" }).waitFor()
        })
      })

      test("act on incidents that were selected by the mouse", function* ({ baseUrl, demo }) {
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("host-mouse")
          for (const check_id of ["disk", "load"])
            await demo.report("host-mouse", [{ check_id, status: "critical", output: `${check_id} is high` }])
          const { page } = await openConsole(context, `${baseUrl}/#/incidents?filter=host-mouse/`)
          await signIn(page)
          for (const name of ["disk", "load"]) await page.getByLabel(`Select host-mouse/${name}`).click()
          await page.keyboard.press("a")
          await page.getByText("Acknowledged 2 incidents").waitFor()
        })
      })

      test("select rows of a page that learns the role of its reader after its rows", function* (opened) {
        const { baseUrl, demo } = opened
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("host-late")
          await demo.report("host-late", [{ check_id: "disk", status: "critical", output: "late" }])
          const { page } = await openConsole(context, `${baseUrl}/#/incidents?filter=host-late`)
          await signIn(page)
          let answer: (() => void) | undefined
          const isSeen = new Promise<void>((resolve) => (answer = resolve))
          await page.route("**/ops/v1/me", (asked) => isSeen.then(() => asked.continue()))
          await page.reload()
          await page.getByRole("link", { name: "late", exact: true }).waitFor()
          answer?.()
          await page.getByRole("checkbox", { name: "Select host-late/disk" }).check()
          await page.getByRole("status").getByText("1 selected").waitFor()
        })
      })

      test("leave out incidents that are acknowledged, also at Undo", function* ({ baseUrl, demo }) {
        const context = yield* openContext
        yield* Effect.promise(async () => {
          await demo.join("host-taken")
          for (const check_id of ["disk", "load"])
            await demo.report("host-taken", [{ check_id, status: "critical", output: `${check_id} is high` }])
          const token = await demo.addOperator("bob", "respond")
          const taken = "ops/v1/incidents?agent_id=host-taken&check_id=disk"
          const { items } = (await demo.call("GET", taken)) as { readonly items: [{ readonly id: string }] }
          const note = { note: "replacing the disk" }
          await demo.call("PUT", `ops/v1/incidents/${items[0].id}/acknowledgement`, note, token)

          const { page } = await openConsole(context, `${baseUrl}/#/incidents?filter=host-taken/`)
          await signIn(page)
          const last = page.getByRole("log", { name: "Last action" })
          for (const name of ["disk", "load"]) await page.getByLabel(`Select host-taken/${name}`).click()
          await page.keyboard.press("a")
          await last.getByText("Acknowledged 1 incident; left out 1 already acknowledged").waitFor()
          await last.getByRole("button", { name: "Undo" }).click()
          await last.getByText("Undone").waitFor()
          await page.getByLabel("Select host-taken/disk").click()
          await page.getByRole("button", { name: "Acknowledge" }).click()
          await last.getByText("Acknowledged 0 incidents; left out 1 already acknowledged").waitFor()
          assert.strictEqual(await last.getByRole("button").count(), 0)

          await page.getByRole("link", { name: "disk is high" }).click()
          await page.getByText("bob has acknowledged it").waitFor()
          await page.getByRole("button", { name: "Acknowledge", exact: true }).click()
          await page.getByText(/^token-.* has acknowledged it/).waitFor()
          await last.getByText("Acknowledged 1 incident").waitFor()
          assert.strictEqual(await last.getByRole("button").count(), 0)
        })
      })
    })
  },
)

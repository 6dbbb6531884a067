import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Browser, chromium, openConsole, openContext, signIn, skipped, violationsOf } from "./Console.ts"
import { Site, startService } from "./Site.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

/** The parts of an element that the page is asked for: these files know no DOM. */
interface Cell {
  readonly getBoundingClientRect: () => { readonly right: number }
  readonly clientWidth: number
  readonly scrollWidth: number
  readonly getAttribute: (name: string) => string | null
  readonly querySelectorAll: (selector: string) => ArrayLike<Pick<Cell, "clientWidth" | "scrollWidth">>
}
interface Row {
  readonly textContent: string | null
  readonly querySelectorAll: (selector: string) => ArrayLike<Cell>
}

/** A list as paper shows it: its rows, how many of them begin before the one above ends, and what else there is. */
const PRINTED = `(() => {
  const places = Array.from(document.querySelectorAll(".rows li"), (row) => row.getBoundingClientRect())
  const { backgroundColor, color } = getComputedStyle(document.querySelector(".rows"))
  return {
    rows: places.filter(({ height }) => height > 20).length,
    overlaps: places.filter(({ top }, index) => index > 0 && top < places[index - 1].bottom - 1).length,
    rest: Array.from(document.querySelectorAll("nav a, button, input"), (part) => part.checkVisibility() ? part.outerHTML : "").join("")
      + (backgroundColor === "rgb(255, 255, 255)" && color === "rgb(0, 0, 0)" ? "" : backgroundColor + color),
  }
})()`

const shared = Layer.merge(Browser.layer, Site.layer)

describe.skipIf(chromium === undefined)(`checks in the console${skipped}`, () => {
  layer(shared, { excludeTestServices: true })((it) => {
    const test = testsFrom(Site, it.effect)

    it.effect(
      "the grid of many checks counts those that fail or are late, and cells use the room of a row",
      () =>
        Effect.gen(function* () {
          const { baseUrl, demo } = yield* startService()
          const context = yield* openContext
          yield* Effect.promise(async () => {
            const failing = ["certificate-of-the-shop", "replication-of-the-database", "disk"]
            for (let host = 0; host < 3; host += 1) {
              const id = `host-${host}`
              await demo.join(id)
              const fine = Array.from({ length: 700 }, (_, index) => `check-${index}`)
              await demo.report(id, [
                ...fine.map((check_id) => ({ check_id, status: "ok" as const, output: "fine" })),
                ...failing.slice(host).map((check_id, place) => ({
                  check_id,
                  status: place === 0 ? ("critical" as const) : ("warning" as const),
                  output: "bad",
                })),
              ])
            }
            const { page } = await openConsole(context, `${baseUrl}/#/checks?view=grid`)
            await signIn(page)
            const rows = page.getByRole("list", { name: "Agents and their checks" }).getByRole("listitem")
            await rows.nth(2).getByText("1 in all").waitFor()
            const counts = await rows.locator(".ok").allTextContents()
            assert.deepStrictEqual(
              counts.map((text) => text.trim()),
              ["3 in all", "2 in all", "1 in all"],
            )
            assert.strictEqual(await page.getByText("all checks").count(), 0)
            const isCut = await rows
              .first()
              .evaluate((row: Row) =>
                Array.from(row.querySelectorAll(".cell span"), (name) => name.scrollWidth > name.clientWidth),
              )
            assert.deepStrictEqual(isCut, [false, false, false])
            await rows.first().getByText("3 in all").click()
            const list = page.getByRole("list", { name: "Checks" }).getByRole("listitem")
            await list.nth(2).waitFor()
            assert.strictEqual(await list.count(), 3)
          })
        }),
    )

    test("a check's page draws what it measured, and its keys read the values", function* (opened) {
      const { baseUrl, demo } = opened
      const context = yield* openContext
      yield* Effect.promise(async () => {
        await demo.join("measured-1")
        const used = [75, 81, 84]
        await demo.report(
          "measured-1",
          used.map((value, index) => ({
            check_id: "disk",
            status: "ok",
            output: `fine|used=${value}%;80:;90 free=${index}KB`,
            minutesAgo: 40 - index * 20,
          })),
        )
        const { page, faults } = await openConsole(context, `${baseUrl}/#/checks/measured-1/disk`)
        await signIn(page)
        const chart = page.getByRole("slider", { name: "used over time" })
        const figure = page.locator("figure").filter({ has: chart })
        await figure.locator("canvas").waitFor()
        // The highest first, as they are drawn.
        assert.deepStrictEqual(await figure.locator(".bound").allTextContents(), [
          "crit above 90 %",
          "warn below 80 %",
        ])
        const isPointed = (value: string) => chart.and(page.locator(`[aria-valuetext$="${value}"]`)).waitFor()
        await isPointed("used 84 %")
        await chart.focus()
        await page.keyboard.press("ArrowLeft")
        await isPointed("used 81 %")
        await page.keyboard.press("Home")
        await isPointed("used 75 %")
        // All charts of a check show the same time.
        await page
          .getByRole("slider", { name: "free over time" })
          .and(page.locator('[aria-valuetext$="free 0 B"]'))
          .waitFor()
        await figure.getByText("Table").click()
        await figure.getByRole("row").nth(used.length).waitFor()
        assert.strictEqual(await figure.getByRole("row").count(), used.length + 1)
        assert.deepStrictEqual(await violationsOf(page, "all"), [])
        // Colours that fade would be caught half-way.
        await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" })
        assert.deepStrictEqual(await violationsOf(page, "theme"), [])
        await page.goto(`${baseUrl}/#/agents/measured-1`)
        await page.getByRole("img", { name: "used in the last day: 75 % to 84 %" }).waitFor()
        await page.getByRole("img", { name: /^24 hours: 100 % ok/ }).waitFor()
        assert.deepStrictEqual(await violationsOf(page, "all"), [])
        assert.deepStrictEqual(faults, [])
      })
    })

    test("the grid shows the worst first, and counts the checks that have no room", function* (opened) {
      const { baseUrl, demo } = opened
      const context = yield* openContext
      yield* Effect.promise(async () => {
        await demo.join("host-a")
        await demo.report("host-a", [{ check_id: "disk", status: "ok", output: "fine" }])
        await demo.join("host-b")
        await demo.report("host-b", [{ check_id: "disk", status: "warning", output: "nearly full" }])
        await demo.join("host-c")
        const count = 44
        await demo.report(
          "host-c",
          Array.from({ length: count + 3 }, (_, index) => ({
            check_id: `volume-of-a-customer-${index}`,
            status: index < 3 ? "ok" : index % 2 === 0 ? "critical" : "warning",
            output: `${index}`,
          })),
        )
        const { page } = await openConsole(context, `${baseUrl}/#/checks?view=grid&filter=host-`)
        await signIn(page)
        const rows = page.getByRole("list", { name: "Agents and their checks" }).getByRole("listitem")
        const links = (row: number) => rows.nth(row).getByRole("link").allTextContents()
        for (const width of [1440, 1024, 390]) {
          await page.setViewportSize({ width, height: 844 })
          await rows.filter({ hasText: "host-a" }).getByText("1 ok").waitFor()
          await rows.filter({ hasText: "host-c" }).getByText("3 ok").waitFor()
          const names = await Promise.all([0, 1, 2].map(async (row) => (await links(row))[0]))
          assert.deepStrictEqual(names, ["host-c", "host-b", "host-a"])
          // All cells at one moment: a new width changes their number.
          for (;;) {
            const { cells, text } = await rows.first().evaluate((row: Row) => ({
              text: row.textContent ?? "",
              cells: Array.from(row.querySelectorAll(".cell"), (cell) => ({
                end: cell.getBoundingClientRect().right,
                isCut: Array.from(cell.querySelectorAll("span")).some(
                  (label) => label.scrollWidth > label.clientWidth,
                ),
                name: cell.getAttribute("class") ?? "",
              })),
            }))
            const isSettled =
              text.includes(`${count - cells.length} more`) && cells.every(({ end }) => end <= width)
            if (!isSettled) {
              await page.waitForTimeout(50)
              continue
            }
            assert.isNotEmpty(cells)
            if (width > 390) assert.isTrue(cells.every(({ isCut }) => !isCut))
            for (const { name } of cells) assert.include(name, "is-critical")
            break
          }
        }
        await rows.first().getByText("more").click()
        const list = page.getByRole("list", { name: "Checks" }).getByRole("listitem")
        await list.first().getByText("host-c/").waitFor()
        await page.getByText("host-b").waitFor({ state: "detached" })
        await page.goto(`${baseUrl}/#/checks?view=grid&state=late`)
        await page.getByText("No check matches").waitFor()
      })
    })

    test("are in groups by a label, as incidents are", function* ({ baseUrl, demo }) {
      const context = yield* openContext
      yield* Effect.promise(async () => {
        for (const [host, team, status] of [
          ["host-of-1", "sea", "ok"],
          ["host-of-2", "land", "critical"],
          ["host-of-3", "sea", "warning"],
        ] as const) {
          await demo.join(host, { team })
          await demo.report(host, [{ check_id: "disk", status, output: `disk of ${host}` }])
        }
        await demo.join("host-of-4")
        await demo.report("host-of-4", [{ check_id: "disk", status: "unknown", output: "lost" }])
        const { page } = await openConsole(context, `${baseUrl}/#/checks?filter=host-of`)
        await signIn(page)
        await page.getByLabel("Group by label").focus()
        await page.locator('datalist option[value="team"]').waitFor({ state: "attached" })
        await page.getByLabel("Group by label").fill("team")
        const rows = (name: string) => page.getByRole("list", { name, exact: true }).getByRole("listitem")
        await rows("no team").filter({ hasText: "host-of-4" }).waitFor()
        assert.strictEqual(await rows("team=sea").count(), 2)
        assert.deepStrictEqual(await page.getByRole("heading", { level: 3 }).allTextContents(), [
          "team=land 1",
          "no team 1",
          "team=sea 2",
        ])
        await page.goto(`${baseUrl}/#/incidents?filter=host-of&group=team`)
        await rows("team=land").filter({ hasText: "disk of host-of-2" }).waitFor()
        await rows("team=sea").filter({ hasText: "disk of host-of-3" }).waitFor()
      })
    })

    test("an agent whose key two hosts use is marked, and it is said where that is not known", function* ({
      baseUrl,
      demo,
    }) {
      const context = yield* openContext
      yield* Effect.promise(async () => {
        await demo.join("cloned")
        await demo.join("alone")
        for (const process of ["1", "2", "1", "2"])
          await demo.heartbeat("cloned", { process: process.repeat(16), hostname: `host-${process}` })
        const { page } = await openConsole(context, `${baseUrl}/#/agents`)
        await signIn(page)
        const rows = page.getByRole("list", { name: "Agents" }).getByRole("listitem")
        await rows.filter({ hasText: "cloned" }).getByText("two hosts").waitFor()
        assert.strictEqual(await rows.filter({ hasText: "alone" }).getByText("two hosts").count(), 0)
        await page.goto(`${baseUrl}/#/agents/cloned`)
        await page.locator(".facts").getByText("two hosts").waitFor()
        await page.goto("about:blank")
        await page.route("**/ops/v1/incidents?*", (route) => route.fulfill({ status: 500, body: "{}" }))
        await page.goto(`${baseUrl}/#/agents`)
        await page.getByText("It is not known which agents have two hosts").waitFor()
      })
    })

    test("are listed the worst first", function* ({ baseUrl, demo }) {
      const context = yield* openContext
      yield* Effect.promise(async () => {
        const statuses = ["ok", "warning", "critical", "unknown", "ok"] as const
        await demo.join("host-worst")
        await demo.report(
          "host-worst",
          statuses.map((status, index) => ({ check_id: `${index}-${status}`, status, output: "" })),
        )
        const { page } = await openConsole(context, `${baseUrl}/#/checks?filter=host-worst`)
        await signIn(page)
        const rows = page.getByRole("list", { name: "Checks" }).getByRole("link")
        const worst = ["2-critical", "3-unknown", "1-warning", "0-ok", "4-ok"]
        await rows.nth(worst.length - 1).waitFor()
        assert.deepStrictEqual(
          await rows.allTextContents(),
          worst.map((name) => `host-worst/${name}`),
        )
        await demo.report("host-worst", [{ check_id: "4-ok", status: "critical", output: "" }])
        await rows.nth(1).filter({ hasText: "4-ok" }).waitFor()
        await page.goto(`${baseUrl}/#/agents/host-worst`)
        await rows.first().filter({ hasText: "2-critical" }).waitFor()
      })
    })

    test("are searched on the server, and begin at an agent by its name", function* ({ baseUrl, demo }) {
      const context = yield* openContext
      yield* Effect.promise(async () => {
        await demo.join("host-found")
        const names = Array.from({ length: 700 }, (_, index) => `part-${index}`)
        await demo.report(
          "host-found",
          names.map((check_id) => ({ check_id, status: "ok", output: `Answer of ${check_id}` })),
        )
        const { page } = await openConsole(context, `${baseUrl}/#/checks?filter=ANSWER+part-69`)
        const asked: Array<string> = []
        page.on("request", (request) => {
          if (request.url().includes("/ops/v1/checks")) asked.push(request.url())
        })
        await signIn(page)
        const rows = page.getByRole("list", { name: "Checks" }).getByRole("link")
        await rows.first().waitFor()
        assert.strictEqual(await rows.count(), 11)
        // The late ones, those that are not ok, and the ok ones.
        assert.isAtMost(new Set(asked).size, 3)
        await page.goto(`${baseUrl}/#/checks?filter=host-found/`)
        await page
          .locator(".rows .check")
          .nth(names.length - 1)
          .waitFor({ state: "attached" })
        assert.isTrue(await page.evaluate("window.scrollY === 0 && find('part-699') && scrollY > 0"))
        const pdf = await page.pdf({ landscape: true })
        const pages = pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0
        assert.isAbove(pages, names.length / 25)
        await page.emulateMedia({ media: "print", colorScheme: "dark" })
        assert.deepStrictEqual(await page.evaluate(PRINTED), { rows: names.length, overlaps: 0, rest: "" })
        await page.emulateMedia({ media: "screen" })
        await demo.join("host-m")
        await demo.report("host-m", [{ check_id: "disk", status: "ok", output: "fine" }])
        await page.goto(`${baseUrl}/#/checks`)
        await page.getByLabel("From agent").fill("host-m")
        await rows
          .first()
          .filter({ hasText: /^host-m\/disk/ })
          .waitFor()
      })
    })

    test("a check shows its newest output in full, and its clock as behind beyond the sending of results", function* ({
      baseUrl,
      demo,
    }) {
      const context = yield* openContext
      yield* Effect.promise(async () => {
        await demo.join("host-n")
        const report = (output: string, secondsAgo: number, check_id = "disk") =>
          demo.report("host-n", [{ check_id, status: "ok", output, minutesAgo: secondsAgo / 60 }])
        await report("first\nof all", 60)
        await report("newest\n\u001b[32min full\u001b[0m", 11)
        await report("late", 40, "load")
        const { page } = await openConsole(context, `${baseUrl}/#/checks/host-n/disk`)
        await signIn(page)
        const article = page.getByRole("article")
        await article.getByRole("heading", { name: "Newest output" }).waitFor()
        const outputs = await article.locator("pre").allTextContents()
        assert.deepStrictEqual(outputs, ["newest\nin full", "first\nof all"])
        await article.getByText("repeated until").waitFor()
        await article.getByText("in step with the service").waitFor()
        await page.goto(`${baseUrl}/#/checks?filter=host-n/`)
        const row = page.getByRole("list", { name: "Checks" }).getByRole("listitem")
        await row.filter({ hasText: "host-n/disk" }).getByText("newest", { exact: true }).waitFor()
        await page.goto(`${baseUrl}/#/checks/host-n/load`)
        await article.getByText("behind; results that arrive late look the same").waitFor()
      })
    })
  })
})

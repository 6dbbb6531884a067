import { AT_LENGTH, unlessAtLength, inTurn } from "../properties/atLength.ts"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { seedSqlite } from "../../bench/seed/seedSqlite.ts"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import {
  Browser,
  browserWith,
  chromium,
  contextOf,
  isWide,
  openConsole,
  openContext,
  signIn,
  skipped,
  violationsOf,
} from "./Console.ts"
import { Site } from "./Site.ts"

/** Keys and names of the pages whose heading is their link. */
const PAGES = [
  ["v", "Overview"],
  ["i", "Incidents"],
  ["a", "Agents"],
  ["d", "Admission"],
  ["c", "Checks"],
  ["s", "Silences"],
  ["l", "Policy"],
  ["e", "Receivers"],
  ["f", "Pages"],
  ["r", "On call"],
  ["o", "Outbox"],
  ["u", "Audit"],
  ["p", "Operators"],
  ["y", "System"],
] as const

/** A name without a place to break it. */
const LONG = "x".repeat(128)

const ADDRESSES = [
  "silences?new=yes",
  "agents/host-1",
  `checks/${LONG}/${LONG}`,
  "checks?view=grid",
  "integrations",
  "watches",
  "start",
  "nowhere",
]

const THEMES = ["light", "dark"] as const
const WIDTHS = [1440, 1024, 390, 360] as const
/** Colours differ by the theme, and places by the width: few depend on both. A run has each extreme once. */
const WIDTHS_OF = { light: inTurn(WIDTHS, 0), dark: inTurn(WIDTHS, 3) } as const

/** The parts of a time that the page is asked for: this file knows no DOM. */
interface Counting {
  readonly firstChild: { textContent: string | null } | null
  readonly getBoundingClientRect: () => { readonly width: number }
}

/** Two frames: what follows from another width is drawn. */
const DRAWN = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"

/** The texts of rows that reach beyond their place, over a row beside them. */
const SPILLED = `Array.from(document.querySelectorAll(".rows li"))
  .filter((row) => {
    const place = row.getBoundingClientRect()
    return Array.from(row.querySelectorAll(":not(.unseen, .unseen *)")).some((part) => {
      const { top, bottom, height } = part.getBoundingClientRect()
      // A label that has no room is not shown.
      if (part.closest(".notes") !== null && top >= part.parentElement.getBoundingClientRect().bottom) return false
      return part.children.length === 0 && height > 0 && (top < place.top - 2 || bottom > place.bottom + 2)
    })
  })
  .map(({ innerText }) => innerText)`

/** The texts of rows of which hardly a word is seen. */
const SQUEEZED = `Array.from(document.querySelectorAll(".rows :is(a.main, b, .silence .subject)"))
  .filter(({ clientWidth, scrollWidth }) => clientWidth < Math.min(scrollWidth, 100))
  .map(({ textContent }) => textContent)`

/** Short texts that break into lines: times, states, labels and buttons. */
const BROKEN = `Array.from(document.querySelectorAll(":is(main, header) :is(:not(li) > time, .mark, em, button, .taken), .exact, .took"))
  .filter((part) => {
    const { fontSize, lineHeight, paddingTop } = getComputedStyle(part)
    const line = parseFloat(lineHeight) || parseFloat(fontSize) * 1.45
    // Times of another year, and those of two days, are longer than a telephone is wide.
    return part.innerText !== "" && !/, \\d{4},| – .*,/.test(part.innerText) && part.offsetHeight - 2 * parseFloat(paddingTop) > 1.8 * line
  })
  .map(({ innerText }) => innerText)`

/** Texts of rows that run over what stands beside them. */
const RUNNING_OVER = `Array.from(document.querySelectorAll(".rows :is(a.main, b, time, .subject, .when, .exact, .took, .mark)"))
  .filter((part) => getComputedStyle(part).overflowX === "visible" && part.scrollWidth > part.clientWidth + 1)
  .filter((part) => getComputedStyle(part).display !== "inline")
  .map(({ innerText }) => innerText)`

/** Parts of rows that lie over each other: one that needs more room than its column grows, and runs under the next. */
const OVERLAPPING = `Array.from(document.querySelectorAll(".rows .row")).flatMap((row) => {
  const parts = Array.from(row.querySelectorAll(":scope > :not(.unseen, i)")).filter(({ innerText }) => innerText !== "")
  const places = parts.map((part) => part.getBoundingClientRect())
  return parts.flatMap((part, at) => parts.slice(at + 1).filter((_, after) => {
    const [one, other] = [places[at], places[at + 1 + after]]
    const width = Math.min(one.right, other.right) - Math.max(one.left, other.left)
    const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
    return width > 2 && height > 4
  }).map((other) => part.innerText + " and " + other.innerText))
})`

/** The hints of fields that have no room, or too little contrast. */
const FAINT_HINTS = `(() => {
  const pen = document.createElement("canvas").getContext("2d")
  const lightOf = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map((part) => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
  }
  return Array.from(document.querySelectorAll("main input[placeholder]")).flatMap((field) => {
    const { backgroundColor, font, paddingLeft, paddingRight } = getComputedStyle(field)
    const lights = [backgroundColor, getComputedStyle(field, "::placeholder").color].map(lightOf)
    pen.font = font
    const room = field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
    return [
      ...(Math.max(...lights) / Math.min(...lights) < 4.5 ? ["too faint a hint: " + field.placeholder] : []),
      ...(pen.measureText(field.placeholder).width > room ? ["no room for a hint: " + field.placeholder] : []),
    ]
  })
})()`

/** The names of colours that are nearly that of the place where the reader is. */
const LIKE_ACCENT = `(() => {
  const partsOf = (name) => {
    document.body.style.outlineColor = "var(--" + name + ")"
    return getComputedStyle(document.body).outlineColor.match(/[\\d.]+/g).map(Number)
  }
  const accent = partsOf("accent")
  return ["critical", "warning", "unknown", "ok", "waiting"].filter((name) =>
    Math.hypot(...partsOf(name).map((part, place) => part - accent[place])) < 60)
})()`

const loaded = (page: Page): Promise<void> => page.locator(".loading").first().waitFor({ state: "detached" })

/** Enough of everything that each page has rows. */
const fill = Effect.gen(function* () {
  const { demo } = yield* Site
  yield* Effect.promise(async () => {
    const shared = { status: "critical", output: "DISK CRITICAL", incident_key: "disks" } as const
    for (const agent_id of ["host-1", LONG]) {
      await demo.join(agent_id, { env: "production", team: "payments", site: "reykjavik" })
      await demo.report(agent_id, [{ check_id: agent_id === LONG ? LONG : "disk", ...shared }])
    }
    await demo.heartbeat("host-2")
    await demo.join("host-3")
    await demo.heartbeat("host-3", { key: "another-key-of-host-3-0123456789" })
    await demo.addOperator(`kim-${performance.now().toFixed(0)}`, "respond")
    const suffix = performance.now().toFixed(0)
    await demo.call("POST", "ops/v1/integrations", { name: `${"cron-".repeat(8)}${suffix}`, kind: "ping" })
    await demo.call("POST", "ops/v1/watches", {
      name: `${"shop-".repeat(8)}${suffix}`,
      every: "1h",
      // Nobody has this address.
      tcp: { host: "192.0.2.1", port: 9 },
    })
    await demo.call("POST", "ops/v1/silences", {
      matchers: [
        { field: "agent_id", op: "=", value: "web-staging" },
        { field: "check_id", op: "glob", value: "http*" },
      ],
      starts_at: "2036-05-06T07:08:09Z",
      ends_at: "2036-05-07T07:08:09Z",
      comment: "Load test of the new checkout",
    })
    const starts = performance.timeOrigin + performance.now() + 20 * 3_600_000
    await demo.call("POST", "ops/v1/silences", {
      matchers: [{ field: "agent_id", op: "=", value: "web-staging" }],
      starts_at: new Date(starts).toISOString(),
      for: "2h",
      comment: "The replica moves to its new host",
    })
  })
})

/** Filled once: the second filling of a site meets the key that the first one changed, which is a 409. */
const filled = Layer.provideMerge(Layer.effectDiscard(fill), Layer.merge(Browser.layer, Site.layer))

describe.skipIf(chromium === undefined)(`the look of the console${skipped}`, () => {
  layer(filled, { excludeTestServices: true })((it) => {
    it.effect("is accessible on every page, in light and dark at every width", () =>
      Effect.gen(function* () {
        const { baseUrl } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page, faults } = await openConsole(context, baseUrl)
          const found: Array<string> = []
          const examine = async (name: string): Promise<void> => {
            for (const colorScheme of THEMES)
              for (const width of WIDTHS_OF[colorScheme]) {
                // A colour that is still changing is none of the design.
                await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
                await page.setViewportSize({ width, height: 900 })
                await page.evaluate(DRAWN)
                if (await isWide(page)) found.push(`${name} ${width} scrolls sideways`)
                for (const row of await page.evaluate<ReadonlyArray<string>>(SPILLED))
                  found.push(`${name} ${width} has a row beyond its place: ${row}`)
                for (const text of await page.evaluate<ReadonlyArray<string>>(BROKEN))
                  found.push(`${name} ${width} breaks ${text}`)
                for (const text of await page.evaluate<ReadonlyArray<string>>(RUNNING_OVER))
                  found.push(`${name} ${width} runs over beside ${text}`)
                for (const texts of await page.evaluate<ReadonlyArray<string>>(OVERLAPPING))
                  found.push(`${name} ${width} has over each other ${texts}`)
                for (const hint of await page.evaluate<ReadonlyArray<string>>(FAINT_HINTS))
                  found.push(`${name} ${colorScheme} ${width} has ${hint}`)
                for (const colour of await page.evaluate<ReadonlyArray<string>>(LIKE_ACCENT))
                  found.push(`the accent of ${colorScheme} is like ${colour}`)
                for (const text of await page.evaluate<ReadonlyArray<string>>(SQUEEZED))
                  found.push(`${name} ${width} leaves no room for ${text}`)
                const rules = width === 1440 && colorScheme === "light" ? "all" : "width"
                for (const violation of await violationsOf(page, rules))
                  found.push(`${name} ${colorScheme} ${width}: ${violation}`)
              }
          }
          await examine("sign-in")
          await signIn(page)
          for (const [key, name] of PAGES) {
            await page.setViewportSize({ width: 1440, height: 900 })
            await page.getByRole("link", { name: "System", exact: true }).click()
            await page.keyboard.press("g")
            await page.keyboard.press(key)
            await page.getByRole("heading", { name, exact: true, level: 1 }).waitFor()
            await page.getByRole("link", { name, exact: true }).click()
            await loaded(page)
            await examine(name)
          }
          await page.setViewportSize({ width: 1440, height: 900 })
          await page.getByRole("link", { name: "Incidents", exact: true }).click()
          await page.getByRole("link", { name: "DISK CRITICAL" }).click()
          await page.getByText("Open because").waitFor()
          await examine("an incident")
          for (const address of ADDRESSES) {
            await page.goto(`${baseUrl}/#/${address}`)
            await loaded(page)
            await examine(address)
          }
          assert.deepStrictEqual(found, [])
          assert.deepStrictEqual(faults, [])
        })
      }),
    )

    it.effect("says the whole of a text without room, and keeps the place of a time that counts", () =>
      Effect.gen(function* () {
        const { baseUrl } = yield* Site
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const { page } = await openConsole(context, `${baseUrl}/#/agents`)
          await signIn(page)
          const name = page.getByRole("link", { name: LONG })
          await name.hover()
          assert.strictEqual(await name.getAttribute("title"), LONG)
          const short = page.getByRole("link", { name: "host-1", exact: true })
          await short.hover()
          assert.isEmpty((await short.getAttribute("title")) ?? "")
          const time = page.locator(".rows time").first()
          const widths = await time.evaluate((cell: Counting) =>
            ["9s ago", "10s ago"].map((text) => {
              if (cell.firstChild !== null) cell.firstChild.textContent = text
              return cell.getBoundingClientRect().width
            }),
          )
          assert.strictEqual(widths[0], widths[1])
        })
      }),
    )

    it.effect.skipIf(!AT_LENGTH)(
      `fits with text of twice the size, without scrolling sideways${unlessAtLength}`,
      () =>
        Effect.gen(function* () {
          const { baseUrl } = yield* Site
          const browser = yield* browserWith("--blink-settings=defaultFontSize=32")
          const context = yield* contextOf(browser)
          yield* Effect.promise(async () => {
            const { page } = await openConsole(context, baseUrl)
            await signIn(page)
            const found: Array<string> = []
            for (const width of [1440, 768])
              for (const address of [
                ...PAGES.map(([, name]) => name.toLowerCase().replace(" ", "-")),
                ...ADDRESSES,
              ]) {
                await page.setViewportSize({ width, height: 900 })
                await page.goto(`${baseUrl}/#/${address}`)
                await loaded(page)
                if (await isWide(page)) found.push(`${address} ${width} scrolls sideways`)
                const cut = `Array.from(document.querySelectorAll("main button, main .mark, h1"))
                .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
                .map(({ textContent }) => textContent)`
                for (const text of await page.evaluate<ReadonlyArray<string>>(cut))
                  found.push(`${address} ${width} cuts off ${text}`)
              }
            assert.deepStrictEqual(found, [])
          })
        }),
    )

    it.effect.skipIf(!AT_LENGTH)(
      `shows 50,000 checks by the first 1,000 rows and those in sight${unlessAtLength}`,
      () =>
        Effect.gen(function* () {
          const cwd = yield* scratchFolder
          const size = { agents: 1_000, checks: 50_000, history: 50_000, incidents: 10, outbox: 10 }
          const now = BigInt(Math.round(performance.timeOrigin + performance.now())) * 1_000n
          yield* Effect.promise(() =>
            seedSqlite(join(cwd, "tocsin.db"), { size, now, report: () => undefined }),
          )
          const { baseUrl } = yield* startServer({
            cwd,
            environment: {
              SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
              SERVICE_DATA_DIR: cwd,
              SERVICE_LOG_LEVEL: "info",
            },
          })
          const context = yield* openContext
          yield* Effect.promise(async () => {
            const { page } = await openConsole(context, `${baseUrl}/#/checks`)
            await signIn(page)
            const rows = page.getByRole("list", { name: "Checks" })
            const first = await rows.getByRole("link").first().textContent()
            for (let last = 0; last < 1_500;) {
              await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
              // The end of what is known makes the next page known.
              await rows.locator(`li:last-child:not([aria-posinset="${last}"])`).waitFor()
              last = Number(await rows.getByRole("listitem").last().getAttribute("aria-posinset"))
              assert.isBelow(await rows.getByRole("listitem").count(), 1_060)
            }
            await page.evaluate("window.scrollTo(0, 0)")
            await rows.getByRole("link", { name: first ?? "", exact: true }).waitFor()
            const search = page.getByLabel("Search")
            await search.fill("no check is called so")
            await page.getByText("No check matches").waitFor()
          })
        }),
    )
  })
})

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { lacking } from "../../scripts/programs.mjs"
import { browserWith, chromium, contextOf, skipped } from "../console/Console.ts"
import { enroll, report } from "../processes/Agent.ts"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { openFirefox, type Tab } from "./WebDriver.ts"

/** Faults of the open page for a reader who has set colours, text of twice the size, and stillness. */
const FAULTS = `
const root = document.documentElement
const faults = ["(forced-colors: active)", "(prefers-reduced-motion: reduce)"]
  .filter((asked) => !matchMedia(asked).matches)
if (getComputedStyle(root).fontSize !== "32px") faults.push("another size")
if (root.scrollWidth > innerWidth) faults.push("wider than the screen")
if (document.getAnimations().some(({ effect }) => effect.getTiming().duration > 0)) faults.push("moves")
for (const button of document.querySelectorAll("button")) {
  const { borderTopStyle, borderTopWidth, transitionDuration } = getComputedStyle(button)
  if (borderTopStyle === "none" || borderTopWidth === "0px") faults.push("no edge: " + button.outerHTML)
  if (transitionDuration !== "0s") faults.push("fades: " + button.outerHTML)
}
return faults`

const PLACES = [
  "#/incidents",
  "#/checks",
  "#/receivers",
  "#/watches",
  "#/silences?new=yes",
  "#/on-call",
  "#/policy",
  "#/pages",
  "#/operators",
  "#/report",
  "#/start",
]

const walk = Effect.fnUntraced(function* (open: Effect.Effect<Tab, never, Scope.Scope>) {
  const cwd = yield* scratchFolder
  const shop = {
    title: "Shop",
    lang: "de",
    groups: [{ title: "A", lines: [{ name: "B", match: ["check_id = disk"] }] }],
  }
  writeFileSync(join(cwd, "policy.yaml"), JSON.stringify({ pages: { shop } }))
  const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_POLICY_FILE: "policy.yaml" }
  const server = yield* startServer({ cwd, environment })
  yield* report(server, yield* enroll(server, "web-1"), { check_id: "disk", status: "critical" })
  const { go, run } = yield* open
  const see = Effect.fnUntraced(function* (address: string, holds: string) {
    yield* Effect.promise(() => go(`${server.baseUrl}/${address}`))
    yield* until(
      `${address} is shown`,
      Effect.promise(() => run<boolean>(`return ${holds}`)),
    )
    assert.deepStrictEqual(yield* Effect.promise(() => run<ReadonlyArray<string>>(FAULTS)), [], address)
  })
  yield* see("status/shop", "true")
  yield* see("", 'document.querySelector("#token") !== null')
  yield* Effect.promise(() =>
    run(`sessionStorage.setItem("tocsin.token", ${JSON.stringify(OPERATOR_TOKEN)})`),
  )
  for (const [n, place] of PLACES.entries())
    yield* see(
      `?${n}${place}`,
      'document.querySelector("main h1") !== null && document.querySelector(".loading") === null',
    )
})

const openChromium: Effect.Effect<Tab, never, Scope.Scope> = Effect.gen(function* () {
  const context = yield* contextOf(yield* browserWith("--blink-settings=defaultFontSize=32"))
  const page = yield* Effect.promise(() => context.newPage())
  yield* Effect.promise(() => page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" }))
  return {
    go: async (address) => void (await page.goto(address)),
    run: (body) => page.evaluate(`(() => {${body}})()`),
  }
})

const missing = lacking("firefox-esr")
const NAME = "keep to a reader's colours, stillness and size"

describe.skipIf(chromium === undefined)(`pages in Chromium${skipped}`, () => {
  it.live(NAME, () => walk(openChromium), 240_000)
})

describe.skipIf(missing !== undefined)(`pages in Firefox${skippedFor(missing)}`, () => {
  it.live(
    NAME,
    () =>
      walk(
        openFirefox(false, {
          "browser.display.document_color_use": 2,
          "ui.prefersReducedMotion": 1,
          "font.size.variable.x-western": 32,
        }),
      ),
    240_000,
  )
})

import { spawnSync } from "node:child_process"
import process from "node:process"
import { gzipSync } from "node:zlib"
import { Effect } from "effect"
import { type CDPSession, chromium, type Page } from "playwright-core"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { ConsoleCase } from "../cases.ts"
import { enrol, storm } from "../load/enrol.ts"
import { EVENTS_PER_BATCH } from "../load/Load.ts"
import type { CaseResult } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { newKeys, startServer } from "./target.ts"

/** The Chromium that TEST_CHROMIUM names, or this machine's. */
const findChromium = (): string | undefined =>
  [process.env["TEST_CHROMIUM"], "chromium", "chromium-browser"]
    .filter((program) => program !== undefined)
    .map((program) => spawnSync("sh", ["-c", 'command -v "$0"', program]).stdout.toString().trim())
    .find((path) => path !== "")

/** Looks at each frame, and notes when the first one shows a row: milliseconds after the document. */
const NOTE_FIRST_ROW = `{
  const look = () => {
    if (document.querySelector(".rows .row") === null) return requestAnimationFrame(look)
    const [{ responseEnd }] = performance.getEntriesByType("navigation")
    window.firstRow = performance.now() - responseEnd
  }
  requestAnimationFrame(look)
}`

/** Scrolls by a screen every quarter of a second, and counts frames; resolves with those a second. */
const SCROLL = `new Promise((resolve) => {
  const start = performance.now()
  let frames = 0
  const step = (now) => {
    frames += 1
    window.scrollBy(0, innerHeight / 15)
    if (now - start < 4000) requestAnimationFrame(step)
    else resolve(frames / ((now - start) / 1000))
  }
  requestAnimationFrame(step)
})`

/** So long an idle page is watched: several of its regular reads. */
const IDLE_MILLIS = 20_000

const taskSeconds = async (session: CDPSession): Promise<number> => {
  const { metrics } = await session.send("Performance.getMetrics")
  return metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0
}

const firstRow = async (page: Page, address: string): Promise<number> => {
  // Otherwise only the fragment changes, and nothing is loaded.
  await page.goto("about:blank")
  await page.goto(address)
  await page.locator(".rows .row").first().waitFor()
  return await page.evaluate<number>("window.firstRow")
}

const framesOf = async (page: Page, address: string): Promise<number> => {
  await page.goto(address)
  await page.locator(".rows .row").first().waitFor()
  return await page.evaluate<number>(SCROLL)
}

const kilobytes = async (address: string): Promise<number> =>
  gzipSync(await (await fetch(address)).bytes()).length / 1_000

const lookAt = async (executablePath: string, base: string, token: string, repeats: number) => {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    // The pages of other origins, such as an empty one, have no storage.
    await page.addInitScript(`try { sessionStorage.setItem("tocsin.token", "${token}") } catch {}`)
    await page.addInitScript(NOTE_FIRST_ROW)
    const paints: Array<number> = []
    for (let index = 0; index < repeats; index += 1) paints.push(await firstRow(page, `${base}/`))
    const incidents = await framesOf(page, `${base}/#/incidents`)
    const checks = await framesOf(page, `${base}/#/checks`)
    await page.goto(`${base}/#/incidents`)
    await page.locator(".rows .row").first().waitFor()
    const session = await page.context().newCDPSession(page)
    await session.send("Performance.enable")
    await page.waitForTimeout(2_000)
    const before = await taskSeconds(session)
    await page.waitForTimeout(IDLE_MILLIS)
    const idlePercent = ((await taskSeconds(session)) - before) / (IDLE_MILLIS / 100_000)
    return { paint: median(paints), incidents, checks, idlePercent }
  } finally {
    await browser.close()
  }
}

/** Measures the console in Chromium, before 50,000 checks and 10,000 open incidents. */
export const measureConsole = Effect.fnUntraced(function* (bench: Bench, one: ConsoleCase) {
  const executablePath = findChromium()
  if (executablePath === undefined)
    return yield* new BenchFailure({ message: "there is no Chromium here: name one by TEST_CHROMIUM" })
  const { server } = yield* startServer(bench, one.storage)
  const keys = newKeys(one.checks / EVENTS_PER_BATCH)
  yield* enrol(server, keys)
  yield* storm(server, keys.slice(0, one.incidents / EVENTS_PER_BATCH))
  const base = `http://127.0.0.1:${server.port}`
  const seen = yield* Effect.tryPromise({
    try: () => lookAt(executablePath, base, server.token, bench.measures.repeats),
    catch: (cause) => new BenchFailure({ message: `the console could not be measured: ${String(cause)}` }),
  })
  const [script, style] = yield* Effect.promise(() =>
    Promise.all([kilobytes(`${base}/console/app.js`), kilobytes(`${base}/console/app.css`)]),
  )
  const result: CaseResult = {
    name: one.name,
    operations: "frames",
    series: [],
    figures: [
      { name: "kB of script", value: script, target: { bound: "at most", value: 60 } },
      { name: "kB of style", value: style, target: { bound: "at most", value: 12 } },
      { name: "ms to the first row", value: seen.paint, target: { bound: "at most", value: 300 } },
      { name: "frames/s over incidents", value: seen.incidents, target: { bound: "at least", value: 58 } },
      { name: "frames/s over checks", value: seen.checks, target: { bound: "at least", value: 58 } },
      { name: "% of a core when idle", value: seen.idlePercent, target: { bound: "at most", value: 1 } },
    ],
  }
  return result
})

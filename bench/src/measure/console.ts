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
import { settled } from "./storm.ts"
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

const FRAMES = 240
const AT_LEAST_58 = { bound: "at least", value: 58 } as const
/** At 60 frames a second, a frame lasts 16.7 ms. */
const WITHIN_A_FRAME = { bound: "at most", value: 16 } as const

/** Scrolls by a screen every quarter of a second; resolves with the frames a second. */
const SCROLL = `new Promise((resolve) => {
  const start = performance.now()
  let frames = 0
  const step = (now) => {
    frames += 1
    window.scrollBy(0, innerHeight / 15)
    if (frames < ${FRAMES}) requestAnimationFrame(step)
    else resolve(frames / ((now - start) / 1000))
  }
  requestAnimationFrame(step)
})`

/** A page that has just been drawn is not idle: Chromium compiles and collects for some seconds more. */
const SETTLED_MILLIS = 20_000
/** So long an idle page is watched: several of its regular reads. */
const IDLE_MILLIS = 20_000

/** Processor time of the page's main thread, on which a busy machine has little influence. */
const taskSeconds = async (session: CDPSession): Promise<number> => {
  const { metrics } = await session.send("Performance.getMetrics")
  return metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0
}

/** A page that is loaded again: the start of a browser's process does not count. */
const firstRow = async (page: Page): Promise<number> => {
  await page.reload()
  await page.locator(".rows .row").first().waitFor()
  const millis = await page.evaluate<number>("window.firstRow")
  // Work after the first row must not delay the next load.
  await page.waitForTimeout(1_000)
  return millis
}

interface Scrolled {
  readonly framesPerSecond: number
  readonly millisPerFrame: number
}

const scroll = async (page: Page, session: CDPSession, address: string): Promise<Scrolled> => {
  await page.goto(address)
  await page.locator(".rows .row").first().waitFor()
  await page.waitForTimeout(1_000)
  const before = await taskSeconds(session)
  const framesPerSecond = await page.evaluate<number>(SCROLL)
  const seconds = (await taskSeconds(session)) - before
  return { framesPerSecond, millisPerFrame: (seconds * 1_000) / FRAMES }
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
    await page.goto(`${base}/`)
    const session = await page.context().newCDPSession(page)
    await session.send("Performance.enable", { timeDomain: "threadTicks" })
    const paints: Array<number> = []
    for (let index = 0; index < repeats; index += 1) paints.push(await firstRow(page))
    const incidents = await scroll(page, session, `${base}/#/incidents`)
    const checks = await scroll(page, session, `${base}/#/checks`)
    const grid = await scroll(page, session, `${base}/#/checks?view=grid`)
    await page.goto(`${base}/#/incidents`)
    await page.locator(".rows .row").first().waitFor()
    await page.waitForTimeout(SETTLED_MILLIS)
    const before = await taskSeconds(session)
    await page.waitForTimeout(IDLE_MILLIS)
    const idlePercent = ((await taskSeconds(session)) - before) / (IDLE_MILLIS / 100_000)
    return { paint: median(paints), lists: { incidents, checks, grid }, idlePercent }
  } finally {
    await browser.close()
  }
}

/** Measures the console in Chromium, before 50,000 checks and 10,000 open incidents. */
export const measureConsole = Effect.fnUntraced(function* (bench: Bench, one: ConsoleCase) {
  const executablePath = findChromium()
  if (executablePath === undefined)
    return yield* new BenchFailure({ message: "there is no Chromium here: name one by TEST_CHROMIUM" })
  // No agent sends heartbeats: dead ones would open incidents while the page is measured.
  const { server } = yield* startServer(bench, one.storage, {
    SERVICE_STALE_AFTER: "1h",
    SERVICE_DEAD_AFTER: "2h",
  })
  const keys = newKeys(one.checks / EVENTS_PER_BATCH)
  yield* enrol(server, keys)
  yield* storm(server, keys.slice(0, one.incidents / EVENTS_PER_BATCH))
  // A page beside thousands of changes a minute is not idle, and shares the machine with the server.
  yield* settled(server, one.incidents)
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
      ...Object.entries(seen.lists).flatMap(([list, { framesPerSecond, millisPerFrame }]) => [
        { name: `frames/s over ${list}`, value: framesPerSecond, target: AT_LEAST_58 },
        { name: `ms of processor a frame of ${list}`, value: millisPerFrame, target: WITHIN_A_FRAME },
      ]),
      { name: "% of a core when idle", value: seen.idlePercent, target: { bound: "at most", value: 1 } },
    ],
  }
  return result
})

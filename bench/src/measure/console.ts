import { spawnSync } from "node:child_process"
import process from "node:process"
import { gzipSync } from "node:zlib"
import { Effect } from "effect"
import { type CDPSession, chromium, type Page } from "playwright-core"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { ConsoleCase } from "../cases.ts"
import { enrol, recover, storm } from "../load/enrol.ts"
import { agentId, EVENTS_PER_BATCH } from "../load/Load.ts"
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
const AT_MOST_300 = { bound: "at most", value: 300 } as const
/** At 60 frames a second, a frame lasts 16.7 ms. */
const WITHIN_A_FRAME = { bound: "at most", value: 16 } as const

/** Scrolls by a screen every quarter of a second; resolves with the milliseconds that 95 % of the frames take at most. */
const SCROLL = `new Promise((resolve) => {
  const frames = []
  let last = performance.now()
  const step = (now) => {
    frames.push(now - last)
    last = now
    window.scrollBy(0, innerHeight / 15)
    if (frames.length < ${FRAMES}) requestAnimationFrame(step)
    else resolve(frames.sort((a, b) => a - b)[Math.floor(${FRAMES} * 0.95)])
  }
  requestAnimationFrame(step)
})`

/** Has the page note how long it takes from the next `event` until `isDone`, an expression. */
const noteDelay = (
  event: "input" | "keydown",
  isDone: string,
) => `void (window.delay = new Promise((resolve) =>
  addEventListener("${event}", ({ timeStamp }) => {
    const look = (now) => (${isDone}) ? resolve(now - timeStamp) : requestAnimationFrame(look)
    requestAnimationFrame(look)
  }, { once: true, capture: true })))`

/** A page that has just been drawn is not idle: Chromium compiles and collects for some seconds more. */
const SETTLED_MILLIS = 20_000
/** So long an idle page is watched: several of its regular reads. */
const IDLE_MILLIS = 20_000

/** Processor time of the page's main thread, on which a busy machine has little influence. */
const taskSeconds = async (session: CDPSession): Promise<number> => {
  const { metrics } = await session.send("Performance.getMetrics")
  return metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0
}

const open = async (page: Page, address: string): Promise<void> => {
  await page.goto(address)
  await page.reload()
  await page.locator(".rows .row").first().waitFor()
}

/** A page that is loaded again: the start of a browser's process does not count. */
const firstRow = async (page: Page, address: string): Promise<number> => {
  await open(page, address)
  const millis = await page.evaluate<number>("window.firstRow")
  // Work after the first row must not delay the next load.
  await page.waitForTimeout(1_000)
  return millis
}

/** Acknowledges the worst incident by keys, and waits for the word that it was done. */
const acknowledge = async (page: Page, base: string): Promise<number> => {
  await open(page, `${base}/#/incidents`)
  for (const key of ["j", "x"]) await page.keyboard.press(key)
  await page.evaluate(noteDelay("keydown", `document.querySelector(".done p") !== null`))
  await page.keyboard.press("a")
  return await page.evaluate<number>("window.delay")
}

/** Searches all checks for one agent's, and waits for the first row of them. */
const search = async (page: Page, base: string, agent: string): Promise<number> => {
  await open(page, `${base}/#/checks`)
  const isFound = `document.querySelector(".rows .row")?.textContent.includes("${agent}") === true`
  await page.evaluate(noteDelay("input", isFound))
  await page.locator("[type=search]").fill(agent)
  return await page.evaluate<number>("window.delay")
}

/** The bytes that a page keeps, after a collection of garbage. */
const keptBytes = async (session: CDPSession): Promise<number> => {
  await session.send("HeapProfiler.collectGarbage")
  return (await session.send("Runtime.getHeapUsage")).usedSize
}

interface Scrolled {
  readonly p95: number
  readonly millisPerFrame: number
}

const scroll = async (page: Page, session: CDPSession, address: string): Promise<Scrolled> => {
  await page.goto(address)
  await page.locator(".rows .row").first().waitFor()
  await page.waitForTimeout(1_000)
  const before = await taskSeconds(session)
  const p95 = await page.evaluate<number>(SCROLL)
  const seconds = (await taskSeconds(session)) - before
  return { p95, millisPerFrame: (seconds * 1_000) / FRAMES }
}

const kilobytes = async (address: string): Promise<number> =>
  gzipSync(await (await fetch(address)).bytes()).length / 1_000

interface Looked {
  readonly base: string
  readonly token: string
  readonly repeats: number
  /** An agent whose checks are not first in any list. */
  readonly agent: string
  /** Has ten thousand checks change. */
  readonly change: () => Promise<void>
}

const lookAt = async (executablePath: string, { agent, base, change, repeats, token }: Looked) => {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    // The pages of other origins, such as an empty one, have no storage.
    await page.addInitScript(`try { sessionStorage.setItem("tocsin.token", "${token}") } catch {}`)
    await page.addInitScript(NOTE_FIRST_ROW)
    await page.goto(`${base}/`)
    const session = await page.context().newCDPSession(page)
    await session.send("Performance.enable", { timeDomain: "threadTicks" })
    const repeated = async (one: () => Promise<number>): Promise<number> => {
      const all: Array<number> = []
      for (let index = 0; index < repeats; index += 1) all.push(await one())
      return median(all)
    }
    const delays = {
      "to the first row": await repeated(() => firstRow(page, `${base}/`)),
      "to the first row of checks": await repeated(() => firstRow(page, `${base}/#/checks`)),
      "to find a row among all checks": await repeated(() => search(page, base, agent)),
      "to acknowledge": await repeated(() => acknowledge(page, base)),
    }
    const incidents = await scroll(page, session, `${base}/#/incidents`)
    const checks = await scroll(page, session, `${base}/#/checks`)
    const grid = await scroll(page, session, `${base}/#/checks?view=grid`)
    await page.goto(`${base}/#/incidents`)
    await page.locator(".rows .row").first().waitFor()
    await page.waitForTimeout(SETTLED_MILLIS)
    const before = await taskSeconds(session)
    await page.waitForTimeout(IDLE_MILLIS)
    const idlePercent = ((await taskSeconds(session)) - before) / (IDLE_MILLIS / 100_000)
    await change()
    const kept = await keptBytes(session)
    await change()
    const growth = (await keptBytes(session)) / kept
    return { delays, lists: { incidents, checks, grid }, idlePercent, growth }
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
  const stormed = keys.slice(0, one.incidents / EVENTS_PER_BATCH)
  yield* storm(server, stormed)
  // A page beside thousands of changes a minute is not idle, and shares the machine with the server.
  yield* settled(server, one.incidents)
  const base = `http://127.0.0.1:${server.port}`
  const seen = yield* Effect.tryPromise({
    try: () =>
      lookAt(executablePath, {
        base,
        token: server.token,
        repeats: bench.measures.repeats,
        agent: agentId(keys.length - 1),
        change: () => Effect.runPromise(Effect.andThen(recover(server, stormed), storm(server, stormed))),
      }),
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
      ...Object.entries(seen.delays).map(([what, value]) => ({
        name: `ms ${what}`,
        value,
        target: AT_MOST_300,
      })),
      ...Object.entries(seen.lists).flatMap(([list, { millisPerFrame, p95 }]) => [
        {
          name: `ms of 95 % of frames of ${list}`,
          value: p95,
          target: { bound: "at most", value: 33 } as const,
        },
        { name: `ms of processor a frame of ${list}`, value: millisPerFrame, target: WITHIN_A_FRAME },
      ]),
      { name: "% of a core when idle", value: seen.idlePercent, target: { bound: "at most", value: 1 } },
      {
        name: "memory × that of 20,000 changes before",
        value: seen.growth,
        target: { bound: "at most", value: 1.1 },
      },
    ],
  }
  return result
})

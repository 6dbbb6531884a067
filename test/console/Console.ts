import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import process from "node:process"
import { setTimeout } from "node:timers/promises"
import { Context, Effect, Layer } from "effect"
import {
  type Browser as PlaywrightBrowser,
  type BrowserContext,
  chromium as playwright,
  type Page,
} from "playwright-core"
import { whyNotAtLength } from "../properties/atLength.ts"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

/** The Chromium of the console's tests: the one that TEST_CHROMIUM names, or this machine's. */
export const chromium = programPath("chromium")

/** The same without windows saves a fifth of the processor time. `test/browsers` proves the console in the other. */
const withoutWindows =
  process.env["TEST_CHROMIUM"] === undefined ? programPath("chromium-headless-shell") : undefined

/** The suites' note where they are skipped. */
export const skipped = skippedFor(lacking("chromium"))

/** The note of the suites that `AT_LENGTH` decides on too. */
export const skippedAtLength = skippedFor(lacking("chromium") ?? whyNotAtLength)

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** A browser at a server's console, and what went wrong on its pages. */
export interface ConsolePage {
  readonly page: Page
  /** Errors of scripts, and refusals by the content security policy. */
  readonly faults: ReadonlyArray<string>
  /** Origins that the page called. */
  readonly origins: ReadonlySet<string>
}

/**
 * Without a graphics card, a process of its own that draws for one takes a quarter of the processor time, and a process
 * for each page a sixth of the rest.
 */
const BARE = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-features=PreloadTopChromeWebUI",
  "--renderer-process-limit=1",
]

/** Starts the browser. */
const launch = (...args: ReadonlyArray<string>): Promise<PlaywrightBrowser> =>
  playwright.launch({ executablePath: withoutWindows ?? chromium ?? "", args: [...BARE, ...args] })

/** A browser that shows notifications, which one without windows does not, until the scope ends. */
export const browserWithNotifications = Effect.acquireRelease(
  Effect.promise(() =>
    playwright.launch({
      executablePath: chromium ?? "",
      args: [...BARE, "--headless=new"],
      ignoreDefaultArgs: ["--headless", "--headless=old"],
    }),
  ),
  (browser) => Effect.promise(() => browser.close()),
)

/** A browser that ends with the scope. */
export const browserWith = (...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(() => launch(...args)),
    (browser) => Effect.promise(() => browser.close()),
  )

/** The browser of this process. It ends with it: a start takes a second of processor time. */
let started: Promise<PlaywrightBrowser> | undefined

/** The browser that the tests of one process share; each test has contexts that it closes. */
export class Browser extends Context.Service<Browser, PlaywrightBrowser>()("test/console/Browser") {
  static readonly layer = Layer.effect(
    Browser,
    Effect.promise(() => (started ??= launch())),
  )
}

/** A person at a browser, with tabs and a storage of their own, until the scope ends. */
export const contextOf = (browser: PlaywrightBrowser) =>
  Effect.acquireRelease(
    Effect.promise(() => newContext(browser)),
    (opened) => Effect.promise(() => opened.close()),
  )

const newContext = async (browser: PlaywrightBrowser): Promise<BrowserContext> => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  // Full machines take a tenth of it; a page that is wrong must not hold the suite.
  context.setDefaultTimeout(60_000)
  return context
}

/** A person at the shared browser whose context no one had before, for a test that changes it for good. */
export const openNewContext = Effect.flatMap(Browser, contextOf)

/** A context that tests use one after another. */
interface Reused {
  readonly context: BrowserContext
  /** Forgets what its pages stored and loaded, and closes them. */
  readonly clear: () => Promise<void>
}

const idle: Array<Reused> = []

/**
 * A new context has a new process, which takes a second of processor time to show its first page: a
 * page that stays open keeps the process for the next test.
 */
const makeReused = async (browser: PlaywrightBrowser): Promise<Reused> => {
  const context = await newContext(browser)
  const stays = await context.newPage()
  await stays.route("**", (route) => route.fulfill({ contentType: "text/html", body: "" }))
  // Its process is that of all pages of this host, at any port.
  await stays.goto("http://127.0.0.1/")
  const session = await context.newCDPSession(stays)
  const origins = new Set<string>()
  context.on("request", (request) => {
    if (request.url().startsWith("http")) origins.add(new URL(request.url()).origin)
  })
  const clear = async () => {
    await Promise.all(context.pages().map((page) => (page === stays ? undefined : page.close())))
    for (const origin of origins)
      await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" })
    origins.clear()
    await session.send("Network.clearBrowserCache")
  }
  return { context, clear }
}

/** A person at the shared browser, whose pages and storage are gone with the scope. */
export const openContext = Effect.flatMap(Browser, (browser) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => idle.pop() ?? (await makeReused(browser))),
      (reused) =>
        Effect.promise(async () => {
          await reused.clear()
          idle.push(reused)
        }),
    ),
    ({ context }) => context,
  ),
)

/** Opens the console without signing in. */
export const openConsole = async (context: BrowserContext, address: string): Promise<ConsolePage> => {
  const page = await context.newPage()
  const faults: Array<string> = []
  const origins = new Set<string>()
  page.on("pageerror", (error) => faults.push(error.message))
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) faults.push(message.text())
  })
  page.on("request", (request) => {
    if (!request.url().startsWith("data:")) origins.add(new URL(request.url()).origin)
  })
  await page.goto(address)
  return { page, faults, origins }
}

/** Fills in the form that signs in. */
export const enterToken = async (page: Page, token: string): Promise<void> => {
  await page.getByLabel("Token").fill(token)
  await page.getByRole("button", { name: "Sign in", exact: true }).click()
}

/** Signs in by the form. */
export const signIn = async (page: Page, token: string = OPERATOR_TOKEN): Promise<void> => {
  await enterToken(page, token)
  await page.getByRole("link", { name: "Tocsin, home" }).waitFor()
}

/** Opens the console that a build serves, up to an agent that waits; the faults of the page. */
export const faultsOfAdmission = async (address: string, token?: string): Promise<ReadonlyArray<string>> => {
  if (chromium === undefined) return []
  const browser = await launch()
  try {
    const { page, faults } = await openConsole(await browser.newContext(), `${address}/#/admission`)
    await signIn(page, token)
    await page.getByRole("button", { name: "Accept", exact: true }).waitFor()
    return faults
  } finally {
    await browser.close()
  }
}

/** The rules to examine: everything, or those that a width or a theme changes. */
const RULES = {
  all: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] },
  width: { type: "rule", values: ["color-contrast", "target-size", "scrollable-region-focusable"] },
  theme: { type: "rule", values: ["color-contrast"] },
} as const

/** The rules of WCAG 2.2 AA that the open page breaks, with the elements that break them. */
export const violationsOf = async (page: Page, rules: keyof typeof RULES): Promise<ReadonlyArray<string>> => {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe)
  const options = JSON.stringify({ runOnly: RULES[rules], resultTypes: ["violations", "incomplete"] })
  return await page.evaluate(`(async () => {
    const { violations, incomplete } = await axe.run(document, ${options})
    // Axe is not sure of this one, and screen readers differ.
    const prohibited = incomplete.filter(({ id }) => id === "aria-prohibited-attr")
    return [...violations, ...prohibited].map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 160)).join(" | "))
  })()`)
}

/** Waits until an expression holds in a page, whose policy forbids a page to evaluate it again by itself. */
export const waitUntil = async (page: Page, expression: string): Promise<void> => {
  while (!(await page.evaluate<unknown>(expression))) await setTimeout(20)
}

/** Whether the open page scrolls sideways. */
export const isWide = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth")

/** Items of lists in the open dialog that lie on each other: it is within a row, whose style must not reach them. */
export const overlapsOf = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate<ReadonlyArray<string>>(`Array.from(document.querySelectorAll("dialog[open] li + li"))
    .filter((item) => {
      const [{ bottom, right }, { left, top }] = [item.previousElementSibling, item].map((one) => {
        const range = document.createRange()
        range.selectNodeContents(one)
        return range.getBoundingClientRect()
      })
      return bottom > top + 1 && right > left + 1
    })
    .map(({ innerText }) => innerText + " lies on the item before it")`)

/**
 * The rules that the open page breaks on a wide screen, and in the dark on the narrowest one, at which it stays;
 * also whether it scrolls sideways there, and items that lie on each other.
 */
export const flawsOf = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.emulateMedia({ reducedMotion: "reduce" })
  const wide = await violationsOf(page, "all")
  await page.setViewportSize({ width: 320, height: 800 })
  const sideways = (await isWide(page)) ? ["it scrolls sideways"] : []
  const overlaps = await overlapsOf(page)
  // Colours that fade would be caught half-way.
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" })
  return [...wide, ...sideways, ...overlaps, ...(await violationsOf(page, "width"))]
}

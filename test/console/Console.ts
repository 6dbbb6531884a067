import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import process from "node:process"
import { Effect } from "effect"
import type { Scope } from "effect"
import { type BrowserContext, chromium as playwright, type Page } from "playwright-core"
import { spawnSync } from "node:child_process"
import { OPERATOR_TOKEN } from "../processes/api.ts"

/** The Chromium of the console's tests: the one that TEST_CHROMIUM names, or this machine's. */
export const chromium = [process.env["TEST_CHROMIUM"], "chromium", "chromium-browser"]
  .filter((program) => program !== undefined)
  .map((program) => spawnSync("sh", ["-c", 'command -v "$0"', program]).stdout.toString().trim())
  .find((path) => path !== "")

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** A browser at a server's console, and what went wrong on its pages. */
export interface ConsolePage {
  readonly page: Page
  /** Errors of scripts, and refusals by the content security policy. */
  readonly faults: ReadonlyArray<string>
  /** Origins that the page called. */
  readonly origins: ReadonlySet<string>
}

/** Opens a browser that ends with the scope. */
export const openBrowser: Effect.Effect<BrowserContext, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const browser = await playwright.launch({ executablePath: chromium ?? "", args: ["--no-sandbox"] })
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
      context.setDefaultTimeout(60_000)
      return { browser, context }
    }),
    ({ browser }) => Effect.promise(() => browser.close()),
  ),
  ({ context }) => context,
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

/** Signs in by the form. */
export const signIn = async (page: Page, token: string = OPERATOR_TOKEN): Promise<void> => {
  await page.getByLabel("Token").fill(token)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("link", { name: "Incidents", exact: true }).waitFor()
}

/** The rules of WCAG 2.2 AA that the open page breaks, with the elements that break them. */
export const violationsOf = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe)
  return await page.evaluate(`(async () => {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    const { violations } = await axe.run(document, { runOnly: { type: "tag", values: tags } })
    return violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 160)).join(" | "))
  })()`)
}

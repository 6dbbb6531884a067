import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Queue } from "effect"
import { htmlOfMails, linked } from "../../packages/adapter-notify/test/messages.ts"
import { firing, resolved, shared } from "../../packages/adapter-notify/test/notifications.ts"
import { startReceiver } from "../../packages/adapter-notify/test/Receiver.ts"
import { Browser, chromium, openContext, skipped, violationsOf } from "../console/Console.ts"
import { enroll, report } from "../processes/Agent.ts"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"

/** The widths of a screen and of a phone, in each theme. */
const LOOKS = (["light", "dark"] as const).flatMap((scheme) =>
  [1024, 360].map((width) => [scheme, width] as const),
)

const LONG = "x".repeat(200)

/** A mail of each severity and kind, with the longest words that it can have. */
const mails = htmlOfMails(
  ({ send }) => send(linked),
  ({ send }) => send({ ...shared, summary: LONG, runbook: { ...linked.runbook, note: LONG } }),
  ({ send }) => send({ ...firing, severity: "unknown" }),
  ({ send }) => send(resolved),
  ({ sendDigest }) => sendDigest?.([shared, firing]) ?? Effect.void,
  ({ test }) => test,
)

/**
 * Faults of the open page for its readers: texts below the contrast of WCAG's level AA (4.5), lines below that of
 * graphics (3), and anything that is wider than the screen. The ground is the theme's, unless a part has its own.
 */
const FAULTS = `(() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number)
  const light = (colour) => {
    const [r, g, b] = numbers(colour).slice(0, 3).map((one) => one / 255)
      .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const contrast = (one, other) => {
    const [darker, lighter] = [light(one), light(other)].toSorted((a, b) => a - b)
    return (lighter + 0.05) / (darker + 0.05)
  }
  const probe = document.body.appendChild(document.createElement("i"))
  probe.style.background = "Canvas"
  const canvas = getComputedStyle(probe).backgroundColor
  probe.remove()
  const groundOf = (part) => {
    const ground = part === null ? canvas : getComputedStyle(part).backgroundColor
    return part !== null && numbers(ground)[3] === 0 ? groundOf(part.parentElement) : ground
  }
  const isDark = light(canvas) < 0.1
  const faults = isDark === matchMedia("(prefers-color-scheme: dark)").matches ? [] : ["another theme"]
  if (document.documentElement.scrollWidth > innerWidth) faults.push("wider than the screen")
  for (const part of document.body.querySelectorAll("*")) {
    const { borderLeftColor, borderLeftWidth, color } = getComputedStyle(part)
    const { right } = part.getBoundingClientRect()
    if (right > innerWidth) faults.push("cut: " + part.outerHTML.slice(0, 120))
    const isText = Array.from(part.childNodes).some(({ nodeType }) => nodeType === 3)
    if (isText && contrast(color, groundOf(part)) < 4.5) faults.push("pale: " + part.outerHTML)
    if (borderLeftWidth !== "0px" && contrast(borderLeftColor, groundOf(part.parentElement)) < 3)
      faults.push("pale line: " + borderLeftColor)
  }
  return faults
})()`

describe.skipIf(chromium === undefined)(`a mail in a browser${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("is readable on light and dark grounds, on a screen and on a phone", () =>
      Effect.gen(function* () {
        const pages = yield* mails
        const context = yield* openContext
        for (const [colorScheme, width] of LOOKS)
          yield* Effect.promise(async () => {
            const page = await context.newPage()
            await page.emulateMedia({ colorScheme })
            await page.setViewportSize({ width, height: 640 })
            for (const html of pages) {
              await page.setContent(html)
              assert.deepStrictEqual(
                await page.evaluate<ReadonlyArray<string>>(FAULTS),
                [],
                `${colorScheme} ${width}`,
              )
            }
            await page.close()
          })
      }),
    )
  })
})
describe.skipIf(chromium === undefined)(`a link of a message in a browser${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect("is readable as a mail is, and acknowledges by its button", () =>
      Effect.gen(function* () {
        const cwd = yield* scratchFolder
        const { origin, requests } = yield* startReceiver((response) => response.writeHead(200).end("{}"))
        const phone = { kind: "messenger", type: "ntfy", url_env: "NTFY", acknowledge: "1h" }
        writeFileSync(
          join(cwd, "policy.yaml"),
          JSON.stringify({ receivers: { phone }, routes: [{ to: ["phone"] }] }),
        )
        const environment = {
          NTFY: `${origin}/topic`,
          SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
          SERVICE_POLICY_FILE: "policy.yaml",
          SERVICE_PUBLIC_URL: "https://tocsin.example",
        }
        const server = yield* startServer({ cwd, environment })
        const agent = yield* enroll(server, "web-1")
        yield* report(server, agent, { check_id: "disk", status: "critical" })
        const path =
          /\/a\/[0-9a-f]{96}/.exec((yield* Queue.take(requests)).body)?.[0] ?? assert.fail("no link")
        const context = yield* openContext
        yield* Effect.promise(async () => {
          const page = await context.newPage()
          const look = async (words: string) => {
            assert.include(await page.innerText("main"), words)
            for (const [colorScheme, width] of LOOKS) {
              await page.emulateMedia({ colorScheme })
              await page.setViewportSize({ width, height: 640 })
              const faults = await page.evaluate<ReadonlyArray<string>>(FAULTS)
              // The line around the page means nothing.
              assert.deepStrictEqual(
                faults.filter((fault) => !fault.startsWith("pale line")),
                [],
              )
              assert.deepStrictEqual(await violationsOf(page, "all"), [])
            }
          }
          await page.goto(`${server.baseUrl}${path}`)
          await look("CRITICAL: web-1/disk")
          const console = page.getByRole("link", { name: "Open the incident in the console" })
          assert.match((await console.getAttribute("href")) ?? "", /^\.\.\/#\/incidents\/[0-9a-f-]{36}$/)
          await page.getByRole("button", { name: "Acknowledge for 1h" }).click()
          await page.getByText("Acknowledged by link:phone").waitFor()
          await look("up to critical")
          await page.goto(`${server.baseUrl}/a/x`)
          await look("This link is not known")
        })
      }),
    )
  })
})

// Writes docs/messages/*.png, pictures of messages: `node scripts/takeMessagePictures.ts`. Fakes of services
// take what Tocsin sends. A picture has its words, with links or buttons, in a plain box; a mail is as Chromium
// shows it. Needs a Chromium, as test/console does.
import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { escapeHtml } from "@tocsin/contract/escapeHtml"
import type { Receiver } from "@tocsin/contract/PolicyDocument"
import { makeReceiver } from "@tocsin/adapter-notify/policyReceivers"
import { Duration, Effect, Queue, Record, Redacted } from "effect"
import { partsOf, startMailServer } from "../packages/adapter-notify/test/email/MailServer.ts"
import { firing } from "../packages/adapter-notify/test/notifications.ts"
import { startReceiver } from "../packages/adapter-notify/test/Receiver.ts"
import { fakes } from "../packages/adapter-notify/test/services/fakes.ts"
import { testIds } from "../packages/adapter-notify/test/testIds.ts"
import { Browser, openContext } from "../test/console/Console.ts"

const folder = fileURLToPath(new URL("../docs/messages", import.meta.url))

const notification = {
  ...firing,
  runbook: { url: "https://wiki.example.org/disks", note: "Full disks" },
  links: {
    incident: "https://tocsin.example.org/#/incidents/0198a5f0",
    acknowledge: { url: "https://tocsin.example.org/a/0198a5f0", for: Duration.hours(1) },
  },
}

const deliver = (definition: Receiver, secrets: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const wrapped = Record.map(secrets, (secret) => Redacted.make(secret))
    const { send } = yield* makeReceiver(definition, wrapped, {
      timeout: Duration.seconds(15),
      denyPrivateTargets: false,
    })
    const { outcome } = yield* send(notification)
    if (outcome !== "delivered") throw new Error(`the fake of ${definition.kind} answered ${outcome}`)
  }).pipe(Effect.provide(testIds))

/** The words of a message in a box, with its links below where the service shows them so. */
const boxOf = (text: string, body: string): string => {
  const [title = "", ...lines] = text.replaceAll(/\\(?=\W)|\u200b/g, "").split("\n")
  const links = ["Incident", "Full disks", "Acknowledge for 1h"].filter(
    (label) => body.includes(label) && !text.includes(`${label}: https`),
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><style>
    body { margin: 0; padding: 16px; font: 15px/1.45 system-ui, sans-serif; background: #fff; color: #1b1f24 }
    main { border: 1px solid #d0d7de; border-left: 4px solid #d13438; border-radius: 6px; padding: 10px 14px }
    p { margin: 2px 0; overflow-wrap: anywhere } b { display: block; margin-bottom: 4px }
    a { display: inline-block; margin: 8px 8px 0 0; padding: 3px 10px; border: 1px solid #d0d7de; border-radius: 6px; color: #0969da }
    </style><main><b>${escapeHtml(title)}</b>${lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("")}
    ${links.map((link) => `<a>${escapeHtml(link)}</a>`).join("")}</main></html>`
}

const messages = Effect.gen(function* () {
  const pages: Array<readonly [name: string, html: string]> = []
  // Every chat has the same text; push and cards have buttons.
  for (const [name, fake] of [
    ["chat", fakes.discord],
    ["buttons", fakes.teams],
  ] as const) {
    const { origin, requests } = yield* startReceiver((response, request) => {
      response.writeHead(fake.judge(request)).end("{}")
    })
    yield* deliver(fake.definition, { ...fake.secrets, url: `${origin}${fake.path}` })
    const request = yield* Queue.take(requests)
    pages.push([name, boxOf(fake.textOf(request), decodeURIComponent(request.body.replaceAll("%", "%25")))])
  }
  const { mails, port } = yield* startMailServer()
  const mail = { from: "tocsin@example.org", to: ["ops@example.org"], tls: "off" } as const
  yield* deliver({ kind: "messenger", type: "email", ...mail }, { url: `smtp://127.0.0.1:${port}` })
  const html = partsOf((yield* Queue.take(mails)).raw).find((part) => part.includes("<!doctype"))
  return [...pages, ["email", html ?? ""] as const]
})

const takePictures = Effect.gen(function* () {
  mkdirSync(folder, { recursive: true })
  const pages = yield* messages
  const context = yield* openContext
  yield* Effect.promise(async () => {
    const page = await context.newPage()
    await page.setViewportSize({ width: 520, height: 120 })
    for (const [name, html] of pages) {
      await page.setContent(html)
      await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
    }
  })
})

await Effect.runPromise(Effect.scoped(Effect.provide(takePictures, Browser.layer)))

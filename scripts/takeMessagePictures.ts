// Writes docs/messages/*.png, a picture of messages of each type: `node scripts/takeMessagePictures.ts`. Each
// is drawn from the requests that the type makes, a mail from its HTML as a mail server has it. With a folder, each
// type's picture there has messages of all kinds: look at these after a change of texts. Needs a Chromium, as
// test/console does.
import { mkdirSync } from "node:fs"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { messengerTelegram } from "@tocsin/adapter-notify/messenger/messenger"
import type { Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Queue, Record, Redacted, type Scope } from "effect"
import { htmlOfMails, receiverOf } from "../packages/adapter-notify/test/messages.ts"
import { answering, startReceiver } from "../packages/adapter-notify/test/Receiver.ts"
import { fakes } from "../packages/adapter-notify/test/services/fakes.ts"
import { Browser, openContext } from "../test/console/Console.ts"
import { drawMails, drawMessages, type Service } from "./messages/drawMessage.ts"
import { type Kind, kinds } from "./messages/kinds.ts"

const [given] = process.argv.slice(2)
const folder = given ?? fileURLToPath(new URL("../docs/messages", import.meta.url))

// The names of a record are its keys.
const ALL = Object.keys(kinds) as ReadonlyArray<Kind>

/** The types whose picture in the docs has more than a firing with all that a message can have. */
const SHOWN: Partial<Readonly<Record<Service | "email", ReadonlyArray<Kind>>>> = {
  slack: ALL.filter((kind) => kind !== "warning"),
  email: ["critical", "late", "withdrawn", "digest"],
  call: ["critical", "late", "over", "ends"],
  sms: ["critical", "warning", "late", "reported", "over", "digest"],
}

const kindsOf = (service: Service | "email"): ReadonlyArray<Kind> =>
  given === undefined ? (SHOWN[service] ?? ["critical"]) : ALL

type Make = (origin: string) => Effect.Effect<Notifier, unknown, Scope.Scope>

const typed = Record.map(
  fakes,
  ({ definition, path, secrets }): Make =>
    (origin) =>
      receiverOf("topic" in definition ? { ...definition, topic: "alerts" } : definition, {
        ...secrets,
        url: `${origin}${path}`,
      }),
)

const makers: Readonly<Record<Service, Make>> = {
  ...typed,
  slack: (url) => receiverOf({ kind: "messenger" }, { url }),
  telegram: (origin) =>
    messengerTelegram({
      apiUrl: Redacted.make(origin),
      token: Redacted.make("1:a"),
      chat: "@ops",
      timeout: Duration.seconds(15),
      denyPrivateTargets: false,
    }),
  alert_router: (url) => receiverOf({ kind: "alert_router" }, { url }),
}

const messages = Effect.forEach(
  // The names of a record are its keys.
  Object.entries(makers) as ReadonlyArray<readonly [Service, Make]>,
  Effect.fnUntraced(function* ([service, make]) {
    const { origin, requests } = yield* startReceiver(answering(200, {}, "{}"))
    const notifier = yield* make(origin)
    const bodies = yield* Effect.forEach(
      kindsOf(service),
      Effect.fnUntraced(function* (kind) {
        const result = yield* kinds[kind](notifier)
        if (result.outcome !== "delivered") throw new Error(`${service} answered ${result.outcome}`)
        return (yield* Queue.take(requests)).body
      }),
    )
    return { name: service, html: drawMessages(service, bodies) }
  }),
)

const WIDTH = 520
const PHONE = 360

const takePictures = Effect.gen(function* () {
  mkdirSync(folder, { recursive: true })
  const mails = yield* htmlOfMails(...kindsOf("email").map((kind) => kinds[kind]))
  const [mail = ""] = mails
  const pictures: ReadonlyArray<{ name: string; html: string; width?: number; colorScheme?: "dark" }> = [
    { name: "email", html: drawMails(mails) },
    { name: "email-dark", html: mail, colorScheme: "dark" },
    { name: "email-phone", html: mail, width: PHONE },
    ...(yield* messages),
  ]
  const context = yield* openContext
  yield* Effect.promise(async () => {
    const page = await context.newPage()
    for (const { colorScheme = "light", html, name, width = WIDTH } of pictures) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 80 })
      await page.setContent(html)
      await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
    }
  })
})

await Effect.runPromise(Effect.scoped(Effect.provide(takePictures, Browser.layer)))
// The browser that tests share would keep it running.
process.exit()

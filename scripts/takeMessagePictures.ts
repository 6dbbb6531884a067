// Writes docs/messages/*.png, a picture of the message of each type: `node scripts/takeMessagePictures.ts`. Each
// is drawn from the request that the type makes, a mail from its HTML as a mail server has it. Needs a Chromium,
// as test/console does.
import { mkdirSync } from "node:fs"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { messengerTelegram } from "@tocsin/adapter-notify/messenger/messenger"
import type { Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Queue, Record, Redacted, type Scope } from "effect"
import { htmlOfMails, linked, receiverOf } from "../packages/adapter-notify/test/messages.ts"
import { answering, startReceiver } from "../packages/adapter-notify/test/Receiver.ts"
import { fakes } from "../packages/adapter-notify/test/services/fakes.ts"
import { Browser, openContext } from "../test/console/Console.ts"
import { drawMessage, type Service } from "./messages/drawMessage.ts"

const folder = fileURLToPath(new URL("../docs/messages", import.meta.url))

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
    const result = yield* Effect.flatMap(make(origin), ({ send }) => send(linked))
    if (result.outcome !== "delivered") throw new Error(`${service} answered ${result.outcome}`)
    return { name: service, html: drawMessage(service, (yield* Queue.take(requests)).body) }
  }),
)

const WIDTH = 520
const PHONE = 360

const takePictures = Effect.gen(function* () {
  mkdirSync(folder, { recursive: true })
  const [mail = ""] = yield* htmlOfMails(({ send }) => send(linked))
  const pictures: ReadonlyArray<{ name: string; html: string; width?: number; colorScheme?: "dark" }> = [
    { name: "email", html: mail },
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

import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  browserWithNotifications,
  chromium,
  contextOf,
  openConsole,
  signIn,
  skipped,
} from "../console/Console.ts"
import { operate, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"

interface Shown {
  readonly tag: string
  readonly title: string
  readonly body: string
  readonly silent: boolean
  readonly requireInteraction: boolean
  readonly actions: ReadonlyArray<string>
}

/** The notifications that the worker shows now. */
const SHOWN = `navigator.serviceWorker.getRegistration().then(async (found) =>
  (await found.getNotifications()).map(({ actions, body, requireInteraction, silent, tag, title }) =>
    ({ tag, title, body, silent, requireInteraction, actions: actions.map(({ action }) => action) })))`

const ACKNOWLEDGE = { action: "acknowledge", title: "Acknowledge for 1h" }
const OPEN = { action: "open", title: "Open" }

const MESSAGE = {
  title: "CRITICAL: web-1/disk",
  body: "disk full",
  tag: "one",
  renotify: true,
  requireInteraction: true,
  open: "#/incidents",
  actions: [ACKNOWLEDGE, OPEN],
  link: `a/${"0".repeat(96)}`,
  failed: "No answer came. Nothing is known to be acknowledged.",
  shown: `a/${"0".repeat(96)}/shown`,
}

const startPushing = Effect.gen(function* () {
  return yield* startServer({
    cwd: yield* scratchFolder,
    environment: {
      SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
      DATABASE_URL: "memory:",
      SERVICE_PUSH_CONTACT: "mailto:ops@example.org",
    },
  })
})

/** Chromium 156 may forget a notification that is listed while it is on its way: once in three runs. */
const TELL_OF_SHOWN = `
  const show = ServiceWorkerRegistration.prototype.showNotification
  let shown
  globalThis.toShow = () => void (globalThis.isShown = new Promise((resolve) => (shown = resolve)))
  ServiceWorkerRegistration.prototype.showNotification = function (...told) {
    return show.apply(this, told).finally(() => shown())
  }`

/** A push service that a network keeps away, for which a browser waits without end. */
const SILENT = "PushManager.prototype.subscribe = () => (pushServiceAsked(), new Promise(() => {}))"

/** A worker that shows nothing fails by its name. */
const WITHIN = 300_000

describe.skipIf(chromium === undefined)(`the worker in Chromium${skipped}`, () => {
  it.live(
    "where no push service answers, the console says so after 30 s",
    () =>
      Effect.gen(function* () {
        const server = yield* startPushing
        const made = yield* operate(server, "POST", "/ops/v1/operators", {
          json: { name: "ann", role: "read" },
        })
        const { token } = JSON.parse(made.text) as { readonly token: string }
        const context = yield* contextOf(yield* browserWithNotifications)
        let onAsked = () => {}
        const asked = new Promise<void>((resolve) => (onAsked = resolve))
        yield* Effect.promise(async () => {
          await context.grantPermissions(["notifications"], { origin: server.baseUrl })
          await context.exposeFunction("pushServiceAsked", () => onAsked())
          await context.addInitScript(SILENT)
          await context.clock.install()
          const { page } = await openConsole(context, `${server.baseUrl}/#/receivers`)
          await signIn(page, token)
          await page.getByRole("button", { name: "Notify this browser" }).click()
          await asked
          await page.getByText("Asking this browser and its push service…").waitFor()
          await context.clock.fastForward("31")
          await page.getByText("This browser has no push service: none answered within 30 s.").waitFor()
        })
      }),
    WITHIN,
  )

  it.live(
    "shows what it gets, replaces it, and says what became of an acknowledgement",
    () =>
      Effect.gen(function* () {
        const server = yield* startPushing
        const context = yield* contextOf(yield* browserWithNotifications)
        const page = yield* Effect.promise(() => context.newPage())
        const { deliver, press, shown } = yield* Effect.promise(async () => {
          await context.grantPermissions(["notifications"], { origin: server.baseUrl })
          const session = await context.newCDPSession(page)
          const registered = new Promise<string>((resolve) => {
            session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
              const [first] = registrations
              if (first !== undefined) resolve(first.registrationId)
            })
          })
          await session.send("ServiceWorker.enable")
          await page.goto(server.baseUrl)
          await page.evaluate(
            `navigator.serviceWorker.register(trustedTypes.createPolicy("t", { createScriptURL: (a) => a }).createScriptURL("sw.js")).then(() => navigator.serviceWorker.ready).then(() => true)`,
          )
          const registrationId = await registered
          const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"))
          await worker.evaluate(TELL_OF_SHOWN)
          return {
            deliver: async (message: object) => {
              await worker.evaluate("toShow()")
              await session.send("ServiceWorker.deliverPushMessage", {
                origin: `${server.baseUrl}/`,
                registrationId,
                data: JSON.stringify(message),
              })
              await worker.evaluate("isShown")
            },
            press: async (action: string) => {
              await worker.evaluate("toShow()")
              await worker.evaluate(`registration.getNotifications().then(([notification]) =>
                dispatchEvent(new NotificationEvent("notificationclick", { notification, action: ${JSON.stringify(action)} })))`)
              await worker.evaluate("isShown")
            },
            shown: () => page.evaluate<ReadonlyArray<Shown>>(SHOWN),
          }
        })
        const until = (what: string, holds: (all: ReadonlyArray<Shown>) => boolean) =>
          Effect.promise(async () => {
            for (let look = 0; look < 600; look += 1) {
              const all = await shown()
              if (holds(all)) return all
              await page.waitForTimeout(100)
            }
            throw new Error(`${what}: ${JSON.stringify(await shown())}`)
          })
        yield* Effect.promise(() => deliver(MESSAGE))
        const [first] = yield* until("it is shown", (all) => all.length === 1)
        assert.deepStrictEqual(first, {
          tag: "one",
          title: MESSAGE.title,
          body: "disk full",
          silent: false,
          requireInteraction: true,
          actions: ["acknowledge", "open"],
        })

        // A newer message takes its place; another incident's does not.
        yield* Effect.promise(() => deliver({ ...MESSAGE, body: "disk fuller" }))
        yield* until("it is replaced", (all) => all.length === 1 && all[0]?.body === "disk fuller")
        yield* Effect.promise(() =>
          deliver({ ...MESSAGE, tag: "two", renotify: false, silent: true, link: undefined }),
        )
        const both = yield* until("both are shown", (all) => all.length === 2)
        assert.isTrue(both.find(({ tag }) => tag === "two")?.silent)

        yield* Effect.promise(() => press("acknowledge"))
        const said = yield* until("it says so", (all) => all.some(({ body }) => body.startsWith("This link")))
        const unknown = said.find(({ tag }) => tag === "one")
        assert.include(unknown?.body, "This link is not known. Nothing is acknowledged.\ndisk fuller")
        assert.deepStrictEqual(unknown?.actions, ["open"])
        assert.isTrue(unknown?.silent)

        // Without an answer, the button stays.
        yield* Effect.promise(() => deliver(MESSAGE))
        yield* until("it is back", (all) =>
          all.some(({ actions, tag }) => tag === "one" && actions.length === 2),
        )
        yield* server.stop
        yield* Effect.promise(() => press("acknowledge"))
        const failed = yield* until("it says so too", (all) =>
          all.some(({ body }) => body.startsWith(MESSAGE.failed)),
        )
        assert.deepStrictEqual(failed.find(({ tag }) => tag === "one")?.actions, ["acknowledge", "open"])
      }),
    WITHIN,
  )
})

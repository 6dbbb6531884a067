/**
 * The worker of the page: it shows what the server writes, and acknowledges. It keeps nothing, answers no request of the
 * page, and knows no words, so one of another version shows any message.
 */

interface Message {
  readonly title: string
  readonly body: string
  readonly tag: string
  readonly renotify?: boolean
  readonly silent?: boolean
  readonly requireInteraction?: boolean
  readonly actions?: ReadonlyArray<{ readonly action: string; readonly title: string }>
  /** The place in the console. */
  readonly open?: string
  /** Acknowledges. */
  readonly link?: string | undefined
  /** The words where no answer came. */
  readonly failed?: string
  /** Notes that it was shown. */
  readonly shown?: string | undefined
}

interface Waiting extends Event {
  readonly waitUntil: (work: Promise<unknown>) => void
}
interface Pushed extends Waiting {
  readonly data: { readonly json: () => Message } | null
}
interface Clicked extends Waiting {
  readonly action: string
  readonly notification: Notification & { readonly data: Message }
}
interface Page {
  readonly url: string
  readonly focus: () => Promise<unknown>
  readonly navigate: (address: string) => Promise<unknown>
}

// The declarations of a page have none of a worker's.
const worker = globalThis as unknown as {
  readonly registration: ServiceWorkerRegistration
  readonly Notification: { readonly maxActions?: number }
  readonly clients: {
    readonly matchAll: (options: object) => Promise<ReadonlyArray<Page>>
    readonly openWindow: (address: string) => Promise<unknown>
  }
  readonly skipWaiting: () => Promise<void>
  readonly addEventListener: {
    (type: "push", hear: (event: Pushed) => void): void
    (type: "notificationclick", hear: (event: Clicked) => void): void
    (type: "install", hear: (event: Waiting) => void): void
  }
}

/** Below the time for which browsers let a worker answer a touch. */
const TIMEOUT_MILLIS = 10_000

const addressOf = (place: string): string => new URL(place, worker.registration.scope).href

const post = (place: string) =>
  fetch(addressOf(place), {
    method: "POST",
    headers: { accept: "application/json" },
    referrerPolicy: "no-referrer",
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MILLIS),
  })

const show = (message: Message): Promise<void> => {
  const renotify = message.renotify === true && message.silent !== true
  const options = { ...message, renotify, data: message }
  return worker.registration.showNotification(message.title, options)
}

const showPushed = async (data: Pushed["data"]): Promise<void> => {
  const message = data?.json() ?? { title: "Tocsin", body: "", tag: "" }
  await show(message)
  // Only what was shown; nobody waits for it.
  if (message.shown !== undefined) await post(message.shown).catch(() => undefined)
}

/** The server's words about an acknowledgement; nothing if it is not known to have heard of it. */
const acknowledged = async (link: string): Promise<string | undefined> => {
  try {
    const answer: { readonly outcome?: unknown; readonly text?: unknown } = await (await post(link)).json()
    return typeof answer.outcome === "string" && typeof answer.text === "string" ? answer.text : undefined
  } catch {
    return undefined
  }
}

/** Says in the place of the notification what came of it, without a page. */
const acknowledge = async (message: Message, link: string): Promise<void> => {
  const said = await acknowledged(link)
  const quiet = { ...message, silent: true, requireInteraction: false }
  if (said === undefined) return await show({ ...quiet, body: `${message.failed ?? ""}\n${message.body}` })
  const actions = (message.actions ?? []).filter(({ action }) => action !== "acknowledge")
  await show({ ...quiet, actions, link: undefined, body: `${said}\n${message.body}` })
}

/** Shows a place of the console, in its open page if there is one. */
const open = async (place: string): Promise<void> => {
  const address = addressOf(place)
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true })
  const { scope } = worker.registration
  const page = pages.find(({ url }) => url.split(/[?#]/)[0] === scope)
  try {
    if (page === undefined || place.startsWith("a/")) throw new Error("another page")
    await page.focus()
    await page.navigate(address)
  } catch {
    await worker.clients.openWindow(address)
  }
}

/** Safari shows no buttons: touching the notification leads to the page that has one. */
const hasButtons = (): boolean => (worker.Notification.maxActions ?? 0) > 0

const follow = async ({ action, notification }: Clicked): Promise<void> => {
  const { data: message } = notification
  if (action === "acknowledge" && message.link !== undefined) return await acknowledge(message, message.link)
  notification.close()
  const place = message.link === undefined || hasButtons() ? message.open : message.link
  await open(place ?? "")
}

worker.addEventListener("install", (event) => event.waitUntil(worker.skipWaiting()))
worker.addEventListener("push", (event) => event.waitUntil(showPushed(event.data)))
worker.addEventListener("notificationclick", (event) => event.waitUntil(follow(event)))

import type { NotifierTest, PushState, Subscription } from "@tocsin/client"
import { segment } from "../../api/request.ts"
import { askToNotify, notificationPermission } from "../../state/browser.ts"
import { base } from "../../state/base.ts"
import { attempt, BROWSER_KEY as KEY, forget, keep, kept } from "../../state/kept.ts"
import { call, me, whenSignedOut } from "../../state/session.ts"
import { obstacleIn } from "./obstacle.ts"

/** The row of this browser, and whose it is. */
interface Own {
  readonly id: string
  readonly operator: string
}

const isOwn = (value: unknown): value is Own => typeof Object(value).id === "string"

/** The row that this browser keeps in mind; anyone can have written anything into it. */
export const ownRow = (): Own | undefined => {
  const value = kept("localStorage", KEY)
  return isOwn(value) ? value : undefined
}

/** Why this browser cannot show notifications of this page; nothing if it can. */
export const obstacle = (): string | undefined => obstacleIn(globalThis, notificationPermission())

/** Pages run no script of an address that is not said to be trusted. */
const trusted = (address: string): string => {
  const { trustedTypes } = globalThis as {
    readonly trustedTypes?: {
      readonly createPolicy: (
        name: string,
        rules: { readonly createScriptURL: (given: string) => string },
      ) => { readonly createScriptURL: (given: string) => string }
    }
  }
  const policy = trustedTypes?.createPolicy("tocsin-worker", {
    createScriptURL: () => new URL("sw.js", base).href,
  })
  return policy?.createScriptURL(address) ?? address
}

let registering: Promise<ServiceWorkerRegistration> | undefined

/** The worker beside the page, once it is active. */
const registered = (): Promise<ServiceWorkerRegistration> =>
  (registering ??= (async () => {
    const address = trusted(new URL("sw.js", base).href)
    const registration = await navigator.serviceWorker.register(address, {
      scope: base,
      updateViaCache: "none",
    })
    const worker = registration.installing ?? registration.waiting
    if (registration.active === null && worker !== null)
      await new Promise<void>((resolve) => {
        worker.addEventListener("statechange", () => {
          if (worker.state === "activated") resolve()
        })
      })
    return registration
  })())

const bytesOf = (key: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0))

const isFor = (subscription: PushSubscription, key: string): boolean => {
  const own = subscription.options.applicationServerKey
  return own !== null && String(new Uint8Array(own)) === String(bytesOf(key))
}

/** Browsers wait without end for a push service that does not answer. */
const SILENT_MILLIS = 30_000

const silence = (): Promise<never> =>
  new Promise((_, reject) => {
    const why = "none answered within 30 s. Check that this network reaches it, and try again."
    setTimeout(() => reject(new Error(why)), SILENT_MILLIS)
  })

/** Subscribes at the browser's push service by the key of the server, and tells the server. */
const subscribe = async (key: string): Promise<Subscription> => {
  const { pushManager } = await registered()
  const former = await pushManager.getSubscription()
  // It is bound to its key.
  if (former !== null && !isFor(former, key)) await former.unsubscribe()
  const asked = pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(key) })
  const subscription = await Promise.race([asked, silence()]).catch((reason: unknown) => {
    throw new Error(
      `This browser has no push service: ${reason instanceof Error ? reason.message : String(reason)}`,
    )
  })
  const row = await call<Subscription>("POST", "ops/v1/subscriptions", { body: subscription.toJSON() })
  keep("localStorage", KEY, { id: row.id, operator: row.operator })
  return row
}

export const readState = (): Promise<PushState> => call<PushState>("GET", "ops/v1/push")

/** Asks the reader, and makes this browser one of theirs. Rejects with a sentence for people. */
export const notifyHere = async ({ problem, public_key }: PushState): Promise<Subscription> => {
  if (public_key === undefined) throw new Error(problem ?? "The server gives no key.")
  if (!(await askToNotify()))
    throw new Error(obstacle() ?? "This browser does not allow notifications of this page.")
  return await subscribe(public_key)
}

/** More than an attempt takes. */
const TEST_MILLIS = 30_000

export const testBrowser = (id: string): Promise<NotifierTest> =>
  call<NotifierTest>("POST", `ops/v1/subscriptions/${segment(id)}/test`, { timeoutMillis: TEST_MILLIS })

/** Ends what the push service has of this browser. */
const unsubscribe = async (): Promise<void> => {
  const registration = await attempt(() => navigator.serviceWorker.getRegistration(base))
  const subscription = await registration?.pushManager.getSubscription()
  await subscription?.unsubscribe()
}

/** Removes a browser; of this one, what it keeps too. */
export const removeBrowser = async (id: string): Promise<void> => {
  await call("DELETE", `ops/v1/subscriptions/${segment(id)}`)
  if (ownRow()?.id !== id) return
  forget("localStorage", KEY)
  await unsubscribe()
}

/**
 * Subscribes again where the server has another key or the browser lost its subscription, if this browser has a row of
 * the reader. A row that was deleted by hand stays deleted.
 */
export const renew = async (): Promise<void> => {
  const own = ownRow()
  if (own === undefined || own.operator !== me.peek()?.name || obstacle() !== undefined) return
  if (notificationPermission() !== "granted") return
  const { items } = await call<{ readonly items: ReadonlyArray<Subscription> }>(
    "GET",
    "ops/v1/subscriptions",
    { query: { operator: own.operator } },
  )
  const { public_key } = await readState()
  if (public_key === undefined) return
  const subscription = await (await registered()).pushManager.getSubscription()
  const isBound = subscription !== null && isFor(subscription, public_key)
  // Another key removes the rows of all: those came by no hand.
  if (isBound && !items.some(({ id }) => id === own.id)) return
  if (!isBound) await subscribe(public_key)
}

// A sign-out ends what this browser gets: the server removes the row with the token that is still valid.
whenSignedOut(async (send) => {
  const own = ownRow()
  if (send === undefined || own === undefined || own.operator !== me.peek()?.name) return
  forget("localStorage", KEY)
  await Promise.all([send("DELETE", `ops/v1/subscriptions/${segment(own.id)}`), unsubscribe()])
})

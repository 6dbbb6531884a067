/**
 * Facilities that a browser lacks on some pages or refuses to some people: channels, locks, the clipboard, notices, sound,
 * the screen; its storage is in `kept.ts`. All of it is asked for here alone, and nothing here throws.
 */
import { attempt } from "./kept.ts"

/** Changes the open step of the history, and its address if one is given. Browsers bound how often. */
export const replaceStep = (state: unknown, address?: string): void =>
  attempt(() => history.replaceState(state, "", address))

/** Joins the other tabs of this browser; gives what sends to them. */
export const joinTabs = <A>(name: string, hear: (data: A) => void): ((data: A) => void) => {
  const tabs = attempt(() => new BroadcastChannel(name))
  tabs?.addEventListener("message", ({ data }: MessageEvent<A>) => hear(data))
  return (data) => attempt(() => tabs?.postMessage(data))
}

/** Does something in one tab of this browser at a time; at once where tabs cannot agree, as on a page without TLS. */
export const inTurn = async (name: string, signal: AbortSignal, does: () => Promise<void>): Promise<void> => {
  let isTurn = false
  const take = () => {
    isTurn = true
    return does()
  }
  try {
    await navigator.locks.request(name, { signal }, take)
  } catch {
    if (!isTurn && !signal.aborted) await does()
  }
}

/** Whether the window fits a query of a style sheet now, and from now on. */
export const matching = (query: string, follow?: (isMatch: boolean) => void): (() => boolean) => {
  const list = attempt(() => window.matchMedia(query))
  attempt(() => list?.addEventListener("change", ({ matches }) => follow?.(matches)))
  return () => list?.matches ?? false
}

/** Only secure pages have a clipboard; whether it took the text. */
export const copyText = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Asks the reader for notifications of the desktop; whether they are allowed. */
export const askToNotify = async (): Promise<boolean> => {
  try {
    return (await Notification.requestPermission()) === "granted"
  } catch {
    return false
  }
}

/** Whether the reader, or the system, allows notifications of this page; nothing where there are none. */
export const notificationPermission = (): NotificationPermission | undefined =>
  attempt(() => Notification.permission)

/** Chromium on Android refuses a page that shows one without a worker. */
export const showNotification = (title: string, options: NotificationOptions): void =>
  attempt(() => {
    new Notification(title, options).addEventListener("click", () => window.focus())
  })

let audio: AudioContext | undefined

/** A place to sound in. A browser lets a page sound only after a click on it. */
export const takeAudio = (): AudioContext | undefined => attempt(() => (audio ??= new AudioContext()))

/** Keeps the screen on until the browser takes that back; `undefined` where it does not let a page do so. */
export const keepAwake = async (): Promise<WakeLockSentinel | undefined> => {
  try {
    return await navigator.wakeLock.request("screen")
  } catch {
    return undefined
  }
}

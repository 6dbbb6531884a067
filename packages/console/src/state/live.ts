import { effect, signal } from "@preact/signals"
import { readChunks } from "@tocsin/contract/formats/readChunks"
import { credentialsNow, newKey } from "../api/request.ts"
import { inTurn, joinTabs } from "./browser.ts"
import { now, tick } from "./clock.ts"
import { changed, passTime, readChanges, refresh } from "./revisions.ts"
import { base } from "./base.ts"
import { contact, takeMissed, token } from "./session.ts"

/** Whether the server has another console than this one, as after an upgrade. */
export const isOutdated = signal(false)

const SCRIPT = /console\/app\.js\?v=[0-9a-f]+/

/** Compares this script's address, which names its content, with the one that the server links to. */
export const lookForUpgrade = async (): Promise<void> => {
  const headers = { accept: "text/html" }
  const answer = await fetch(base, { headers, cache: "no-store", credentials: credentialsNow() })
  const [served] = SCRIPT.exec(await answer.text()) ?? []
  if (served !== undefined) isOutdated.value = !import.meta.url.endsWith(served)
}

const POLL_MILLIS = 2_000
const TICK_MILLIS = 1_000
/** How often a page whose stream works is read again for what the stream does not name. */
const TIME_MILLIS = 15_000
/** The server sends something every 15 s; a stream without it does not get through. */
const SILENT_MILLIS = 20_000
const AGAIN_MILLIS = 3_000
/** A server without room for the stream, or a proxy without patience for it, is asked less often. */
const REFUSED_MILLIS = 30_000

/** Changes before a stream began are unknown, so its beginning stands for all topics. */
const ALL = "all"

let streams = 0

/** When something last came through a stream, of this tab or of the one that reads for all. */
let reportedAt = Number.NEGATIVE_INFINITY
const isStreaming = (): boolean => performance.now() - reportedAt < SILENT_MILLIS

const hear = (topics: ReadonlyArray<string>): void => {
  // A tab that is seen again reads everything.
  if (document.hidden) return
  reportedAt = performance.now()
  changed(topics)
  if (topics.includes(ALL)) {
    streams += 1
    // A stream that begins again is that of a server that may have been upgraded.
    if (streams > 1) lookForUpgrade().catch(() => undefined)
  }
}

/** Passes on what this tab hears, as the one that reads the stream, to other tabs of this console. */
const passOn = joinTabs(`tocsin ${base}`, hear)

/** The server ends an older stream of this tab that it still holds, as behind a proxy that keeps it. */
const STREAM = `${base}ops/v1/stream?client=${newKey()}`

const pause = (millis: number, ending: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    AbortSignal.any([ending, AbortSignal.timeout(millis)]).addEventListener("abort", resolve)
  })

/** Reads one stream to its end; resolves with how long to wait before the next one. */
const readStream = async (ending: AbortSignal): Promise<number> => {
  const answer = await fetch(STREAM, {
    headers: { authorization: `Bearer ${token.peek()}`, accept: "text/event-stream" },
    cache: "no-store",
    credentials: credentialsNow(),
    signal: ending,
  })
  const isStream = answer.ok && answer.headers.get("content-type")?.startsWith("text/event-stream") === true
  if (!isStream || answer.body === null) {
    await answer.body?.cancel()
    return REFUSED_MILLIS
  }
  const decoder = new TextDecoder()
  let text = ""
  let isBeginning = true
  await readChunks<Uint8Array>(answer.body, (chunk) => {
    const { changes, rest } = readChanges(text + decoder.decode(chunk, { stream: true }))
    text = rest
    for (const topics of changes) {
      const heard = isBeginning ? [ALL] : topics
      isBeginning = false
      passOn(heard)
      hear(heard)
    }
  })
  return AGAIN_MILLIS
}

const readStreams = async (ending: AbortSignal): Promise<void> => {
  while (!ending.aborted) {
    const wait = await readStream(ending).catch(() => AGAIN_MILLIS)
    if (ending.aborted) return
    // Polls take over until the next stream.
    reportedAt = Number.NEGATIVE_INFINITY
    await pause(wait, ending)
  }
}

let leading: AbortController | undefined

/** One visible tab of the browser reads the stream; the others wait for their turn. */
const takeTurns = (): void => {
  leading?.abort()
  leading = undefined
  if (document.hidden || token.peek() === "") return
  const mine = new AbortController()
  leading = mine
  void inTurn(`tocsin ${base}`, mine.signal, () => readStreams(mine.signal))
}

let timeAt = now.peek()

/**
 * Reads again what is due: everything where no stream names the changes, and where a read did not reach
 * the server; else from time to time what follows from the time.
 */
const poll = (): void => {
  if (document.hidden || token.peek() === "") return
  const isMissed = takeMissed()
  if (!isStreaming() || isMissed) return refresh()
  // In both directions: the clock may be set back.
  if (Math.abs(now.peek() - timeAt) < TIME_MILLIS) return
  timeAt = now.peek()
  passTime()
}

/** Moves the clock, and keeps the page current, by the service's stream or else by polls. */
export const startLive = (): void => {
  setInterval(poll, POLL_MILLIS)
  setInterval(() => {
    if (!document.hidden) tick()
  }, TICK_MILLIS)
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && token.peek() !== "") refresh()
    takeTurns()
  })
  window.addEventListener("online", refresh)
  window.addEventListener("offline", () => {
    contact.value = { ...contact.peek(), isLost: true }
  })
  // A sign-in reads immediately.
  effect(() => {
    if (token.value !== "") refresh()
    takeTurns()
  })
}

import type { Worker } from "node:worker_threads"
import * as Instant from "@tocsin/contract/formats/Instant"
import { MOST_READ } from "@tocsin/contract/integrations/Mails"
import type { ReadsMail } from "@tocsin/core/features/integrations/mail/Mail"
import { Duration, Effect, type Scope, Semaphore } from "effect"
import type { ThreadReply } from "./mailThread.ts"
import { mailAsSent, type ParsedMail } from "./parseMail.ts"

/** How long a mail may be read. */
const LONGEST_READING = Duration.seconds(2)
/** A busy machine needs a while for a new thread. */
const LONGEST_START = Duration.seconds(20)
/** The memory of a thread that reads mails, in MiB: a mail of 1 MiB in any form needs less. */
export const THREAD_MEGABYTES = 96

const TOO_LONG = "a mail took longer than 2 s to read, so it counts by its fields and its text as sent"
const TOO_LARGE = "a mail took too much memory to read, so it counts by its fields and its text as sent"

/** The next reply of a thread, or why none comes. */
const replyOf = (thread: Worker): Effect.Effect<ThreadReply | undefined> =>
  Effect.callback((resume) => {
    // One thread reads many mails, and keeps no listener of a former one.
    const leave = (): void => {
      thread.off("message", replied)
      thread.off("error", ended)
      thread.off("exit", ended)
    }
    const replied = (reply: ThreadReply | undefined): void => {
      leave()
      resume(Effect.succeed(reply))
    }
    const ended = (): void => replied(undefined)
    thread.on("message", replied)
    thread.on("error", ended)
    thread.on("exit", ended)
    return Effect.sync(leave)
  })

/** So many threads may end beside one that reads, as each keeps its memory until then. */
const MOST_ENDING = 2

/**
 * Reads mails in a thread of its own, one at a time: however hostile a mail is, all else goes on. A mail that takes too
 * long, or too much memory, ends the thread. Its sender is answered meanwhile, and another thread starts for the next.
 */
export const mailReader = Effect.fnUntraced(function* (
  start: () => Worker,
): Effect.fn.Return<ReadsMail, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const one = yield* Semaphore.make(1)
  const ending = yield* Semaphore.make(MOST_ENDING)
  let thread: Worker | undefined
  const end = Effect.suspend(() => {
    const ended = thread
    thread = undefined
    return ended === undefined ? Effect.void : ending.withPermit(Effect.promise(() => ended.terminate()))
  })
  yield* Effect.addFinalizer(() => end)
  const started = Effect.gen(function* () {
    if (thread !== undefined) return thread
    const next = yield* ending.withPermit(Effect.sync(start))
    // An error without a listener would end the process.
    next.on("error", () => {})
    thread = next
    const reply = yield* Effect.timeoutOrElse(replyOf(next), {
      duration: LONGEST_START,
      orElse: () => Effect.succeed(undefined),
    })
    if (reply !== "ready") yield* end
    return thread
  })
  const parsed = Effect.fnUntraced(function* (mail: Uint8Array): Effect.fn.Return<ParsedMail> {
    const reader = yield* started
    if (reader === undefined) return mailAsSent(mail, TOO_LONG)
    const copy = new Uint8Array(mail)
    reader.postMessage(copy, [copy.buffer])
    const reply = yield* Effect.timeoutOrElse(replyOf(reader), {
      duration: LONGEST_READING,
      orElse: () => Effect.succeed("too_long" as const),
    })
    if (typeof reply === "object") return reply
    yield* Effect.forkIn(Effect.uninterruptible(end), scope, { startImmediately: true })
    yield* Effect.forkIn(one.withPermit(started), scope)
    return mailAsSent(mail, reply === "too_long" ? TOO_LONG : TOO_LARGE)
  })
  return (mail, sender) =>
    Effect.map(one.withPermit(parsed(mail.subarray(0, MOST_READ))), ({ date, ...read }) => ({
      ...read,
      sender,
      sent_at: date === undefined ? undefined : Instant.fromMillis(date),
    }))
})

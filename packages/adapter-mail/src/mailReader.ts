import type { Worker } from "node:worker_threads"
import * as Instant from "@tocsin/contract/formats/Instant"
import { MOST_READ } from "@tocsin/contract/integrations/Mails"
import type { ReadsMail } from "@tocsin/core/features/integrations/mail/Mail"
import { Duration, Effect, Fiber, type Scope, Semaphore } from "effect"
import type { ThreadReply } from "./mailThread.ts"
import { mailAsSent, type ParsedMail } from "./parseMail.ts"

/** How long a mail may be read. */
const LONGEST_READING = Duration.seconds(2)
/** After this, another thread starts for the mails behind it, in case that it does not end. */
const SPARE_AFTER = Duration.millis(250)
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

/** A thread that starts, or waits for its next mail; undefined if it could not start. */
type Starting = Fiber.Fiber<Worker | undefined>

/**
 * Reads mails in a thread of its own, one at a time: however hostile a mail is, all else goes on. A mail that takes too
 * long, or too much memory, ends the thread. Its sender is answered meanwhile, and the next mail has another thread,
 * which has started while this one was long at work.
 */
export const mailReader = Effect.fnUntraced(function* (
  start: () => Worker,
): Effect.fn.Return<ReadsMail, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const one = yield* Semaphore.make(1)
  const ending = yield* Semaphore.make(MOST_ENDING)
  const running = new Set<Worker>()
  let first: Starting | undefined
  let spare: Starting | undefined
  const end = (thread: Worker) =>
    Effect.andThen(
      ending.withPermit(Effect.promise(() => thread.terminate())),
      Effect.sync(() => running.delete(thread)),
    )
  yield* Effect.addFinalizer(() => Effect.forEach(running, end))
  const started = Effect.gen(function* () {
    const thread = yield* ending.withPermit(Effect.sync(start))
    running.add(thread)
    // An error without a listener would end the process.
    thread.on("error", () => {})
    const reply = yield* Effect.timeoutOrElse(replyOf(thread), {
      duration: LONGEST_START,
      orElse: () => Effect.succeed(undefined),
    })
    if (reply === "ready") return thread
    yield* end(thread)
    return undefined
  })
  // The system may have no thread to give: then this mail lacks it, and not each later one too.
  const startedOrNot = Effect.catchCause(started, () => Effect.succeed(undefined))
  const starting = Effect.forkIn(startedOrNot, scope, { startImmediately: true })
  const startSpare = Effect.gen(function* () {
    yield* Effect.sleep(SPARE_AFTER)
    spare ??= yield* starting
  })
  /** Gives the next mail another thread, and ends this one, if it has started. */
  const leave = (thread: Worker | undefined) =>
    Effect.gen(function* () {
      first = spare ?? (thread && (yield* starting))
      spare = undefined
      if (thread !== undefined) yield* Effect.forkIn(end(thread), scope, { startImmediately: true })
    })
  const parsed = Effect.fnUntraced(function* (mail: Uint8Array): Effect.fn.Return<ParsedMail> {
    first ??= yield* starting
    const thread = yield* Fiber.join(first)
    if (thread === undefined) {
      yield* leave(thread)
      return mailAsSent(mail, TOO_LONG)
    }
    const copy = new Uint8Array(mail)
    thread.postMessage(copy, [copy.buffer])
    const waiting = yield* Effect.forkIn(startSpare, scope)
    const reply = yield* Effect.timeoutOrElse(replyOf(thread), {
      duration: LONGEST_READING,
      orElse: () => Effect.succeed("too_long" as const),
    }).pipe(
      // A later reply would be taken for that to the next mail.
      Effect.onInterrupt(() => leave(thread)),
      Effect.ensuring(Fiber.interrupt(waiting)),
    )
    if (typeof reply === "object") return reply
    yield* leave(thread)
    return mailAsSent(mail, reply === "too_long" ? TOO_LONG : TOO_LARGE)
  })
  return (mail, sender) =>
    Effect.map(one.withPermit(parsed(mail.subarray(0, MOST_READ))), ({ date, ...read }) => ({
      ...read,
      sender,
      sent_at: date === undefined ? undefined : Instant.fromMillis(date),
    }))
})

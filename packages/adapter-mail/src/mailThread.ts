import { parentPort } from "node:worker_threads"
import { JoinedBlob } from "./JoinedBlob.ts"
import { mailAsSent, parseMail, type ParsedMail } from "./parseMail.ts"

/** A thread that is ready, or the mail that it was asked to read. */
export type ThreadReply = "ready" | ParsedMail

const reply = (value: ThreadReply): void => parentPort?.postMessage(value)

/** Reads mails one after another, for as long as the thread lives. */
export const runMailThread = (): void => {
  // The thread is ours alone, and the parser takes no other.
  globalThis.Blob = JoinedBlob
  parentPort?.on("message", (mail: Uint8Array) => {
    parseMail(mail).then(reply, () =>
      reply(mailAsSent(mail, "a mail could not be read, so it counts by its fields and its text as sent")),
    )
  })
  reply("ready")
}

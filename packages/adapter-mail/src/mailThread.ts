import { parentPort } from "node:worker_threads"
import { mailAsSent, parseMail, type ParsedMail } from "./parseMail.ts"

const NEWLINE = Buffer.from("\n")

const bytesOf = (part: unknown): Uint8Array => {
  if (part === "\n") return NEWLINE
  if (part instanceof Uint8Array) return part
  return part instanceof ArrayBuffer ? new Uint8Array(part) : Buffer.from(String(part))
}

/**
 * A Blob that joins its parts at once. The parser makes one of two parts for each line of a text, for which that of
 * Node.js takes seconds.
 */
export class JoinedBlob extends Blob {
  constructor(parts: ReadonlyArray<unknown> = [], options?: ConstructorParameters<typeof Blob>[1]) {
    super([Buffer.concat(parts.map(bytesOf))], options)
  }
}

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

/// <reference lib="es2024.string" />
import { fieldOf, type Mail } from "./Mail.ts"

/** A mail as rules, known senders and words see it. */
export interface SeenMail {
  readonly mail: Mail
  /** The address of From, else of the envelope, else `unknown`. */
  readonly from: string
  /** The words in From beside the address. */
  readonly fromName: string
  readonly subject: string
  /** The lines of its text, trimmed. */
  readonly lines: () => ReadonlyArray<string>
}

const PREFIXES = ["re:", "fwd:", "fw:", "aw:", "wg:", "[external]", "[ext]", "[spam]", "***spam***"]

// oxlint-disable-next-line no-control-regex -- These are the characters to replace.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/gu

/** A subject without what people and mail servers put before it, however often. */
const plainSubject = (given: string): string => {
  let subject = given.replace(CONTROLS, " ").trim()
  for (;;) {
    const prefix = PREFIXES.find((each) => subject.slice(0, each.length).toLowerCase() === each)
    if (prefix === undefined) return subject
    subject = subject.slice(prefix.length).trimStart()
  }
}

const ADDRESS = /[^\s<>()[\]",;:]{1,256}@[^\s<>()",;]+/u

/** The first address that a field From has: in brackets, else what looks like one, else a user alone; empty without. */
const addressIn = (field: string): string => {
  const unquoted = field.replace(/"[^"]*"(?!@)/gu, " ")
  for (const mailbox of unquoted.split(",")) {
    const inBrackets = /<([^<>]*)>[^<>]*$/u.exec(mailbox)?.[1]?.trim() ?? ""
    if (inBrackets !== "") return inBrackets
  }
  return ADDRESS.exec(field)?.[0] ?? /^\s*([\w.+-]+)(?=\s|\(|$)/u.exec(unquoted)?.[1] ?? ""
}

/** The name in From: a comment, or what stands before the address. */
const nameIn = (field: string): string =>
  /\(([^()]*)\)/u.exec(field)?.[1]?.trim() ??
  field
    .replace(/<[^<>]*>/gu, "")
    .replaceAll('"', "")
    .trim()

/** A mail with the subject and the sender by which it is judged. */
export const seenMail = (mail: Mail): SeenMail => {
  const field = fieldOf(mail, "from").replace(CONTROLS, " ")
  const from = addressIn(field) || mail.sender || "unknown"
  let lines: ReadonlyArray<string> | undefined
  return {
    mail,
    from: from.toWellFormed(),
    fromName: nameIn(field),
    subject: plainSubject(fieldOf(mail, "subject")).toWellFormed() || `mail from ${from}`,
    lines: () => (lines ??= mail.text.split("\n").map((line) => line.trim())),
  }
}

/// <reference lib="es2024.string" />
import type { Bounce, MailField } from "@tocsin/core/features/integrations/mail/Mail"
import PostalMime, { decodeWords } from "postal-mime"
import { htmlText } from "./htmlText.ts"

const LF = 10
const CR = 13
const COLON = 58
const SPACE = 32
const TAB = 9

/** More of a head is not read: it is no head of a mail. */
const LONGEST_HEAD = 262_144
const MOST_FIELDS = 1_000
const LONGEST_VALUE = 8_192

const utf8 = new TextDecoder("utf-8", { fatal: true })
const windows1252 = new TextDecoder("windows-1252")

/** Bytes of which no charset is stated: UTF-8, or Windows-1252 if they are none. */
const decodeBytes = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    return windows1252.decode(bytes)
  }
}

interface Head {
  readonly fields: ReadonlyArray<MailField>
  /** Where the text begins. */
  readonly end: number
}

interface Line {
  readonly bytes: Uint8Array
  readonly next: number
}

const lineAt = (mail: Uint8Array, start: number): Line => {
  const found = mail.indexOf(LF, start)
  const end = found === -1 ? mail.length : found
  const isCrlf = end > start && mail[end - 1] === CR
  return { bytes: mail.subarray(start, isCrlf ? end - 1 : end), next: found === -1 ? end : found + 1 }
}

const valueOf = (lines: ReadonlyArray<Uint8Array>): string => {
  const value = lines.map(decodeBytes).join("").slice(0, LONGEST_VALUE).toWellFormed()
  return decodeWords(value).trim().slice(0, LONGEST_VALUE).toWellFormed()
}

/** The fields of a mail in their order, decoded, each on one line. */
const readFields = (mail: Uint8Array): Head => {
  const found: Array<{ readonly name: string; readonly lines: Array<Uint8Array> }> = []
  let at = 0
  while (at < mail.length && at < LONGEST_HEAD) {
    const { bytes, next } = lineAt(mail, at)
    at = next
    if (bytes.length === 0) break
    if (bytes[0] === SPACE || bytes[0] === TAB) {
      found.at(-1)?.lines.push(bytes)
      continue
    }
    const colon = bytes.indexOf(COLON)
    if (colon < 1 || found.length >= MOST_FIELDS) continue
    const name = decodeBytes(bytes.subarray(0, colon)).trim().toLowerCase()
    found.push({ name, lines: [bytes.subarray(colon + 1)] })
  }
  return { end: at, fields: found.map(({ lines, name }) => [name.slice(0, 256), valueOf(lines)]) }
}

// oxlint-disable-next-line no-control-regex -- These are the characters to replace.
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/gu

/** A text in lines, with spaces for control characters. */
const plainLines = (text: string): string =>
  text.replaceAll("\r\n", "\n").replaceAll("\r", "\n").replace(CONTROLS, " ").toWellFormed()

/** A mail as plain data, which a thread can pass on. */
export interface ParsedMail {
  readonly fields: ReadonlyArray<MailField>
  readonly text: string
  /** Its Date, in milliseconds since 1970. */
  readonly date: number | undefined
  readonly isReport: boolean
  readonly bounce: Bounce | undefined
  readonly unread: string | undefined
}

interface Structured {
  readonly value: string
  readonly params: Readonly<Record<string, string | undefined>>
}

/** A part of a mail, as the parser keeps it (postal-mime 4.0.0, its MimeNode). */
interface Part {
  readonly childNodes: ReadonlyArray<Part>
  readonly contentType: { readonly parsed: Structured; readonly multipart: string | false }
  readonly contentDisposition: { readonly parsed: Structured }
  readonly content: ArrayBuffer | null
  readonly getTextContent: () => string
}

const dateOf = (fields: ReadonlyArray<MailField>): number | undefined => {
  const stated = fields.find(([name]) => name === "date")?.[1]
  const millis = stated === undefined ? Number.NaN : Date.parse(stated)
  return Number.isNaN(millis) ? undefined : millis
}

/** Its type; text is plain where none is stated, as in `Content-Type: text`. */
const typeOf = ({ contentType: { parsed } }: Part): string =>
  parsed.value.includes("/") ? parsed.value : "text/plain"

/** The parts that are no others, in their order; nothing of what is encrypted. */
const leavesOf = (part: Part): ReadonlyArray<Part> => {
  if (part.contentType.multipart === "encrypted") return []
  return part.childNodes.length === 0 && part.contentType.multipart === false
    ? [part]
    : part.childNodes.flatMap(leavesOf)
}

const isAttached = ({ contentDisposition }: Part): boolean => contentDisposition.parsed.value === "attachment"

const bytesOf = ({ content }: Part): Uint8Array => new Uint8Array(content ?? new ArrayBuffer(0))

const textIn = (part: Part): string => {
  const isStated = (part.contentType.parsed.params["charset"] ?? "").trim() !== ""
  // The parser takes UTF-8 where no charset is stated.
  return isStated ? part.getTextContent() : decodeBytes(bytesOf(part))
}

/** The first plain text that is neither blank nor attached, else the first HTML as text. */
const textOf = async (leaves: ReadonlyArray<Part>): Promise<string> => {
  const shown = leaves.filter((part) => !isAttached(part))
  for (const part of shown)
    if (typeOf(part) === "text/plain") {
      const text = plainLines(textIn(part))
      if (text.trim() !== "") return text
    }
  const html = shown.find((part) => typeOf(part) === "text/html")
  return html === undefined ? "" : plainLines(await htmlText(plainLines(textIn(html))))
}

/** The parts of a delivery report, the latter of each for a mail with addresses in UTF-8 (RFC 6533). */
const STATUSES = ["message/delivery-status", "message/global-delivery-status"]
const RETURNED = ["message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers"]

/** The mail that a delivery report returns because it has failed for good. */
const bounceOf = (leaves: ReadonlyArray<Part>): Bounce | undefined => {
  const status = leaves.find((part) => STATUSES.includes(typeOf(part)))
  const returned = leaves.find((part) => RETURNED.includes(typeOf(part)))
  if (status === undefined || returned === undefined) return undefined
  const stated = decodeBytes(bytesOf(status))
  if (!/^Action:[ \t]*failed\b/imu.test(stated)) return undefined
  const failed = stated.split(/\r?\n\r?\n/u).find((group) => /^Action:[ \t]*failed\b/imu.test(group)) ?? ""
  const code = /^Status:[ \t]*(\d\.\d{1,3}\.\d{1,3})/imu.exec(failed)?.[1] ?? "5.0.0"
  const { fields } = readFields(bytesOf(returned))
  const message_id = fields.find(([name]) => name === "message-id")?.[1] ?? ""
  const inner = /<([^<>]+)>/u.exec(message_id)?.[1]
  return inner === undefined ? undefined : { message_id: inner, status: code }
}

/** Whether a mail is a delivery report: by its type, or by its parts alone, as OpenSMTPD sends them. */
const isReportOf = ({ childNodes, contentType }: Part): boolean =>
  contentType.multipart === "report"
    ? (contentType.parsed.params["report-type"] ?? "delivery-status").toLowerCase() === "delivery-status"
    : [STATUSES, RETURNED].every((types) => childNodes.some((part) => types.includes(typeOf(part))))

/** Reads a mail. Runs in a thread, as hostile mails take long. */
export const parseMail = async (mail: Uint8Array): Promise<ParsedMail> => {
  const parser = new PostalMime({ forceRfc822Attachments: true, maxNestingDepth: 64 })
  await parser.parse(mail)
  // The types leave out the tree, which alone says which part is the first.
  const { root } = parser as unknown as { readonly root: Part }
  const leaves = leavesOf(root)
  if (root.contentType.multipart !== false && root.childNodes.length === 0) throw new Error("no part begins")
  const { fields } = readFields(mail)
  const isReport = isReportOf(root)
  return {
    fields,
    text: await textOf(leaves),
    date: dateOf(fields),
    isReport,
    bounce: isReport ? bounceOf(leaves) : undefined,
    unread: undefined,
  }
}

const LONGEST_BEGINNING = 16_384

/** A mail as it was sent, where it could not be read: its fields, and the beginning of its text. */
export const mailAsSent = (mail: Uint8Array, unread: string): ParsedMail => {
  const { end, fields } = readFields(mail)
  const text = plainLines(decodeBytes(mail.subarray(end, end + LONGEST_BEGINNING)))
  return { fields, text, date: dateOf(fields), isReport: false, bounce: undefined, unread }
}

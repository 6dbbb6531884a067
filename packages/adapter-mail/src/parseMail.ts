import type { Bounce, MailField } from "@tocsin/core/features/integrations/mail/Mail"
import PostalMime from "postal-mime"
import { htmlText } from "./htmlText.ts"
import { decodeBytes, plainLines, readFields } from "./mailFields.ts"

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

/** Whether a mail is a delivery report: by its type, or by a part alone, as OpenSMTPD sends them. */
const isReportOf = ({ childNodes, contentType }: Part): boolean =>
  contentType.multipart === "report"
    ? (contentType.parsed.params["report-type"] ?? "delivery-status").toLowerCase() === "delivery-status"
    : childNodes.some((part) => STATUSES.includes(typeOf(part)))

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

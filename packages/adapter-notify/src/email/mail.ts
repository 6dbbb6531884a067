import { escapeHtml } from "@tocsin/contract/escapeHtml"
import { MAIL_SENDER } from "@tocsin/contract/ReceiverTypes"
import type { DeliveryAttempt } from "@tocsin/core/ports/DeliveryAttempt"
import { type ChatMessage, textOf, type Tone, toneOf } from "../text/ChatMessage.ts"
import { cutText, linksOf, type NamedLink, plain } from "@tocsin/core/notifications/incidentText"

/** The sender and recipients of a receiver's mails. */
export interface MailAddresses {
  /** An address, or a name and the address in angle brackets. */
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly cc?: ReadonlyArray<string> | undefined
}

/** A mail as nodemailer takes it. */
export interface Mail {
  readonly from: { readonly name: string; readonly address: string }
  readonly to: Array<string>
  readonly cc: Array<string>
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly messageId: string
  readonly inReplyTo?: string
  readonly references?: string
  readonly headers: Record<string, string>
}

const UNLIMITED = { limit: Number.MAX_SAFE_INTEGER, escape: plain }

/** Longer subjects are cut by most programs. */
const MOST_SUBJECT = 200

/** Readable on light and dark grounds. */
const COLOURS: Readonly<Record<Tone, string>> = {
  critical: "#d13438",
  warning: "#c19c00",
  unknown: "#8764b8",
  resolved: "#2d8a4e",
  test: "#2d8a4e",
}

const BUTTON =
  "display:inline-block;margin:12px 8px 0 0;padding:6px 14px;border:1px solid #8c959f;border-radius:6px;" +
  "text-decoration:none"

const buttonOf = ({ title, url }: NamedLink): string =>
  `<a style="${BUTTON}" href="${escapeHtml(url)}">${escapeHtml(title)}</a>`

/** Without a stylesheet, script or image: every program shows the same, and loads nothing. */
const htmlOf = (lines: ReadonlyArray<string>, colour: string, links: ReadonlyArray<NamedLink>): string => {
  const [title = "", ...rest] = lines.map(escapeHtml)
  const shown = rest.map((line) => `<p style="margin:0 0 6px;overflow-wrap:anywhere">${line}</p>`).join("")
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">' +
    '</head><body style="margin:0;padding:16px;font:16px/1.4 system-ui,sans-serif">' +
    `<div style="border-left:4px solid ${colour};padding-left:12px;max-width:640px">` +
    `<h1 style="margin:0 0 8px;font-size:18px;overflow-wrap:anywhere">${title}</h1>${shown}${links.map(buttonOf).join("")}</div></body></html>`
  )
}

/** Places a mail in the thread of its incident: programs show mails with one reference together. */
const threadOf = ({ incident }: DeliveryAttempt, domain: string) => {
  const reference = `<${incident.id}@${domain}>`
  return { inReplyTo: reference, references: reference }
}

/** The mail of a message (docs/notifications.md#types). */
export const mailOf = (message: ChatMessage, { cc = [], from, to }: MailAddresses): Mail => {
  const { inner, name = "" } = MAIL_SENDER.exec(from)?.groups ?? {}
  const address = inner ?? from
  const domain = address.slice(address.lastIndexOf("@") + 1)
  const text = textOf(message, UNLIMITED)
  const lines = textOf(message, { ...UNLIMITED, hasLinks: true }).split("\n")
  const links = message.about === "notification" ? linksOf(message.notifications[0]) : []
  return {
    from: { name: name.trim(), address },
    to: Array.from(to),
    cc: Array.from(cc),
    subject: cutText(lines[0] ?? "", { limit: MOST_SUBJECT, escape: plain }),
    text: `${text}\n`,
    html: htmlOf(lines, COLOURS[toneOf(message)], links),
    messageId: `<${message.id}@${domain}>`,
    ...(message.about === "notification" && threadOf(message.notifications[0], domain)),
    headers: {
      "Auto-Submitted": "auto-generated",
      "X-Auto-Response-Suppress": "All",
      "List-Id": `Tocsin <tocsin.${domain}>`,
    },
  }
}

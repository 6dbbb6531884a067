import { domainToASCII } from "node:url"
import { escapeHtml } from "@tocsin/contract/formats/escapeHtml"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type Language, localeOf } from "@tocsin/contract/languages/Language"
import { fill } from "@tocsin/contract/languages/Words"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { MAIL_SENDER } from "@tocsin/contract/receivers/ReceiverTypes"
import { cutText, plain } from "@tocsin/core/heart/notifications/cutText"
import { detailLines, timesOf } from "@tocsin/core/heart/notifications/messageDetails"
import { digestOf, SEPARATOR } from "@tocsin/core/heart/notifications/digestText"
import {
  incidentLines,
  linksOf,
  listFacts,
  type NamedLink,
  notRecoveredIn,
  subjectOf,
} from "@tocsin/core/heart/notifications/incidentText"
import { type Reader, readerTexts } from "@tocsin/core/heart/notifications/readerTexts"
import { sharedWhy } from "@tocsin/core/heart/notifications/whyText"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import type { DeliveryAttempt, Notifier, TestReceipt } from "@tocsin/core/heart/notifications/Notifiers"
import type { SettledRecipient } from "@tocsin/core/heart/model/OutboxRecord"
import { Effect, type Redacted, type Scope } from "effect"
import { BadNotifierSetting, type PostingOptions } from "../http/HttpPost.ts"
import type { LostPart } from "../loadPart.ts"
import {
  aboutNotification,
  aboutSeveral,
  type ChatMessage,
  textOf,
  type Tone,
  toneOf,
} from "../text/ChatMessage.ts"
import { type HandOver, makeHandOver } from "./handOver.ts"
import { resultOfMail } from "./mailResult.ts"
import { isLoopback, type Mail, makeMailClient, MOST_CONNECTIONS, parseMailServer } from "./mailServer.ts"
import type { MailSettings } from "./mailWords.ts"
import { reportMail } from "./reportMail.ts"

interface MailAddresses {
  /** An address, or a name and the address in angle brackets. */
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly cc?: ReadonlyArray<string> | undefined
  /** The language of its readers; English unless given. */
  readonly lang?: Language | undefined
}

const MEDIUM = { limit: Number.MAX_SAFE_INTEGER, escape: plain, mostOutput: 4_000 }

/** Longer subjects are cut by most programs. */
const MOST_SUBJECT = 200

/** Of lines: three times as light or dark as a white ground, and as one of #121212. */
const COLOURS: Readonly<Record<Tone, string>> = {
  critical: "#d13438",
  warning: "#a87f00",
  unknown: "#8764b8",
  resolved: "#2d8a4e",
  ended: "#6b7280",
  test: "#2d8a4e",
}

const BUTTON =
  "display:inline-block;box-sizing:border-box;max-width:100%;overflow-wrap:anywhere;margin:12px 8px 0 0;" +
  "padding:6px 14px;border:1px solid #858d96;border-radius:6px;text-decoration:none"

const buttonOf = ({ title, url }: NamedLink): string =>
  `<a style="${BUTTON}" href="${escapeHtml(url)}">${escapeHtml(title)}</a>`

const lineOf = (line: string, style = ""): string =>
  `<p style="margin:0 0 6px;overflow-wrap:anywhere${style}">${line}</p>`

/** Of lines that are read second. */
const FACTS = ";font-size:14px;opacity:.8"

/** Keeps lines and spaces of an output, and wraps long lines. */
const OUTPUT =
  "margin:8px 0 0;padding:10px 12px;border:1px solid #858d9666;border-radius:6px;white-space:pre-wrap;" +
  "overflow-wrap:anywhere;font:13px/1.45 ui-monospace,Consolas,monospace"

/** The address of an alert, which is all of its line, leads where it says. */
const linked = (line: string, reader: Reader): string => {
  const { labelled, source } = readerTexts(reader).words.notification
  const before = fill(labelled, { name: source, value: "" })
  const address = line.startsWith(before) ? line.slice(before.length) : ""
  return /^https?:[^\s"'<>]+$/u.test(address) ? `${before}<a href="${address}">${address}</a>` : line
}

const detailsOf = (notification: DeliveryAttempt, times: string): string => {
  const details = detailLines(notification, MEDIUM, MEDIUM.limit).filter((line) => line !== times)
  const shown = details.map((lines) =>
    lines.startsWith("> ")
      ? `<pre style="${OUTPUT}">${escapeHtml(lines.replaceAll(/^> /gmu, ""))}</pre>`
      : lineOf(linked(escapeHtml(lines), notification), FACTS),
  )
  return shown.length === 0 ? "" : `<div style="margin-top:18px">${shown.join("")}</div>`
}

/** Since when it is what it is stands beside since when its incident is open, the last of its facts but an ID. */
const inOneLine = (notification: DeliveryAttempt, times: string): ReadonlyArray<string> => {
  const last = listFacts(notification).length - 1
  return incidentLines(notification).facts.map((fact, index) =>
    times !== "" && index === last ? `${fact}${SEPARATOR}${times}` : fact,
  )
}

/** Its lines, where that its check is not ok cannot be passed over. */
const singleHtml = (notification: DeliveryAttempt) => {
  const { ending, headline, title } = incidentLines(notification)
  const warned = notRecoveredIn(notification)
  const { details, incident } = notification
  // Those of one check of several stand below, with its name.
  const times = details && incident.members === 1 ? timesOf(notification, details) : ""
  const said = [...ending, headline].filter((line) => line !== "")
  const lines = [
    ...said.map((line) => lineOf(escapeHtml(line), line === warned ? ";font-weight:bold" : "")),
    ...inOneLine(notification, times).map((line) => lineOf(escapeHtml(line), FACTS)),
    ...linksOf(notification).map(buttonOf),
    detailsOf(notification, times),
  ]
  return { title, body: lines.join("") }
}

const digestHtml = (notifications: ReadonlyArray<DeliveryAttempt>) => {
  const { entries, more, title } = digestOf(notifications, MEDIUM)
  const shown = entries.map(({ check, facts, line, link, name }) => {
    const rest = line.startsWith(name) ? line.slice(name.length) : undefined
    const named = rest === undefined ? escapeHtml(line) : `<b>${escapeHtml(name)}</b>${escapeHtml(rest)}`
    const end =
      link && ` <a style="white-space:nowrap" href="${escapeHtml(link.url)}">${escapeHtml(link.title)}</a>`
    // Titles may be alike.
    const where = check === undefined ? "" : escapeHtml(check)
    const below = escapeHtml(facts).replace(where, () => (where === "" ? "" : `<b>${where}</b>`))
    const second = [below, end].join("")
    return lineOf(named, ";padding-top:6px") + (second && lineOf(second, ";font-size:14px"))
  })
  return { title, body: shown.join("") + (more === undefined ? "" : lineOf(more)) }
}

/** The parts of a mail beside its lines. */
interface HtmlParts {
  readonly lang: Language | undefined
  readonly tone: Tone
  readonly why: string | undefined
}

/**
 * Without a stylesheet, script or image: every program shows the same, and loads nothing. Texts, links and the
 * ground have the colours of the reader's theme; older programs of Apple know it by its former name.
 */
const htmlOf = (
  { body, title }: { readonly title: string; readonly body: string },
  { lang = "en", tone, why = "" }: HtmlParts,
): string =>
  `<!doctype html><html lang="${localeOf(lang)}" style="color-scheme:light dark"><head><meta charset="utf-8">` +
  '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">' +
  '<meta name="supported-color-schemes" content="light dark"></head><body style="margin:0;padding:16px;font:16px/1.4 system-ui,sans-serif">' +
  `<div style="border-left:4px solid ${COLOURS[tone]};padding-left:12px;max-width:640px;word-break:keep-all">${why && lineOf(escapeHtml(why))}` +
  `<h1 style="margin:0 0 8px;font-size:20px;color:${COLOURS[tone]};overflow-wrap:anywhere">${escapeHtml(title)}</h1>${body}</div></body></html>`

/** Places a mail in the thread of its incident: programs show mails with one reference together. */
const threadOf = ({ incident }: DeliveryAttempt, domain: string) => {
  const reference = `<${incident.id}@${domain}>`
  return { inReplyTo: reference, references: reference }
}

/** The domain of an address in ASCII: relays without SMTPUTF8 refuse others. */
const domainOf = (address: string): string => {
  const given = address.slice(address.lastIndexOf("@") + 1).replace(/>$/u, "")
  return domainToASCII(given) || given
}

const withDomain = (address: string): string =>
  `${address.slice(0, address.lastIndexOf("@"))}@${domainOf(address)}`

/** Sender, recipients and headers of every mail with an ID. */
const envelopeOf = (id: string, { cc = [], from, to }: MailAddresses) => {
  const { inner, name = "", quoted } = MAIL_SENDER.exec(from)?.groups ?? {}
  const address = withDomain(inner ?? from)
  const domain = domainOf(address)
  return {
    from: { name: quoted?.replaceAll(/\\(.)/gu, "$1") ?? name.trim(), address },
    to: to.map(withDomain),
    cc: cc.map(withDomain),
    messageId: `<${id}@${domain}>`,
    headers: {
      "Auto-Submitted": "auto-generated",
      "X-Auto-Response-Suppress": "All",
      "List-Id": `Tocsin <tocsin.${domain}>`,
    },
  }
}

const mailOf = (message: ChatMessage, addresses: MailAddresses): Mail => {
  const envelope = envelopeOf(message.id, addresses)
  const text = textOf(message, MEDIUM)
  const notifications = message.about === "test" ? [] : message.notifications
  const about = message.about === "notification" ? message.notifications[0] : undefined
  const lang = message.about === "test" ? message.lang : notifications[0]?.lang
  const html = about
    ? singleHtml(about)
    : message.about === "test"
      ? { title: text, body: "" }
      : digestHtml(notifications)
  return {
    ...envelope,
    subject: cutText(about === undefined ? html.title : subjectOf(about), {
      limit: MOST_SUBJECT,
      escape: plain,
    }),
    text: `${text}\n`,
    html: htmlOf(html, { lang, tone: toneOf(message), why: sharedWhy(notifications) }),
    ...(about && threadOf(about, domainOf(envelope.from.address))),
    headers: {
      ...(about && { "X-Tocsin-Key": plainLine(about.incident.incident_key) }),
      ...envelope.headers,
    },
  }
}

/** Many servers refuse a greeting by a name without a dot. */
const dotted = (name: string): string | undefined => (name.includes(".") ? name : undefined)

export interface EmailOptions extends PostingOptions, MailAddresses {
  /** `smtp://` or `smtps://`, with user and password. `?tls=off` at its end has the effect of `tls`. */
  readonly url: Redacted.Redacted
  /** `off` allows a connection without TLS. */
  readonly tls?: "required" | "off" | undefined
  /** The name by which it greets; that of `publicHost` or the domain of `from` unless given. */
  readonly hello?: string | undefined
}

/** Sends mails by what hands them over. */
export const mailsOver = Effect.fnUntraced(function* (
  handOver: HandOver,
  options: MailAddresses & { readonly settings: MailSettings },
): Effect.fn.Return<Notifier, never, Ids> {
  const ids = yield* Ids
  const sendMail = (mail: Mail, settled: ReadonlyArray<SettledRecipient> = []) =>
    Effect.map(handOver(mail, settled), (handed) => resultOfMail(handed, settled, options.settings))
  const send = (message: ChatMessage, settled?: ReadonlyArray<SettledRecipient>) =>
    sendMail(mailOf(message, options), settled)
  const deliver = (message: ChatMessage, notification: DeliveryAttempt | undefined) =>
    Effect.map(send(message, notification?.recipients), ({ result }) => result)
  const test = Effect.flatMap(Instant.now, (now) =>
    send({ about: "test", id: ids.uuidV7(now), lang: options.lang }),
  )
  return {
    kind: "messenger",
    takesDetails: true,
    mails: { recipients: options.to.length + (options.cc?.length ?? 0), domain: domainOf(options.from) },
    concurrency: MOST_CONNECTIONS,
    outlastsLease: true,
    send: (notification) => deliver(aboutNotification(notification), notification),
    sendDigest: (notifications) => deliver(aboutSeveral(notifications), notifications[0]),
    sendReport: (report) =>
      Effect.map(
        sendMail({ ...envelopeOf(report.id, options), ...reportMail(report) }, report.recipients),
        ({ result }) => result,
      ),
    test: Effect.timeoutOrElse(test, {
      duration: options.settings.timeout,
      orElse: () => Effect.succeed(BUSY),
    }),
  }
})

const BUSY: TestReceipt = {
  status: undefined,
  result: {
    outcome: "deferred",
    error: "The mail server is slow, or busy with other mails: try again later.",
  },
}

/** Sends mails (docs/notifications.md#types). */
export const email = Effect.fnUntraced(function* (
  options: EmailOptions,
): Effect.fn.Return<Notifier, BadNotifierSetting | LostPart, Scope.Scope | Ids> {
  const timeout = options.mailTimeout ?? options.timeout
  const server = yield* Effect.fromResult(parseMailServer(options.url, options)).pipe(
    Effect.mapError((message) => new BadNotifierSetting({ setting: "url", message })),
  )
  const needsTls = options.tls !== "off" && !server.isPlain
  const hello = () => options.hello ?? options.publicHost?.() ?? dotted(domainOf(options.from))
  const client = yield* makeMailClient({ ...options, server, needsTls, timeout, hello })
  const settings = { ...server, timeout, needsTls, hasLogin: server.auth !== undefined }
  const notifier = yield* mailsOver(makeHandOver(client), { ...options, settings })
  const isExposed = !needsTls && !isLoopback(server.host)
  return isExposed ? { ...notifier, caution: "sends mails without TLS" } : notifier
})

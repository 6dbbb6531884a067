import type { DeliveryResult, Notifier } from "@tocsin/core/ports/Notifiers"
import * as Instant from "@tocsin/contract/Instant"
import { Ids } from "@tocsin/core/ports/Ids"
import { Effect, type Redacted, type Scope } from "effect"
import { BadNotifierSetting } from "../BadNotifierSetting.ts"
import { receiptOf } from "../http/deliveryResult.ts"
import type { Answer } from "../http/exchange.ts"
import type { PostingOptions } from "../http/HttpPost.ts"
import { aboutNotification, aboutSeveral, type ChatMessage } from "../text/ChatMessage.ts"
import { type MailAddresses, mailOf } from "./mail.ts"
import { isLoopback, makeSendMail, parseMailServer } from "./mailServer.ts"

export interface EmailOptions extends PostingOptions, MailAddresses {
  /** `smtp://` or `smtps://`, with user and password. */
  readonly url: Redacted.Redacted
  /** `off` allows a connection without TLS. */
  readonly tls?: "required" | "off" | undefined
}

/** The result of a mail server's answer; the body has how many recipients were refused, or nodemailer's code. */
const judge = ({ body, status }: Answer): DeliveryResult => {
  if (status < 400) {
    if (body === "0") return { outcome: "delivered" }
    return { outcome: "delivered", error: `The mail server refused ${body} of the recipients.` }
  }
  if (body === "ETLS") {
    const error = "The mail server does not offer STARTTLS: use smtps://, or a port that offers it."
    return { outcome: "deferred", error }
  }
  const answered = `The mail server answered ${status}`
  if (status < 500) return { outcome: "deferred", error: `${answered}.` }
  const advice =
    body === "EAUTH"
      ? "check the user and the password in the receiver's settings"
      : "check the sender and the recipients in the receiver's settings"
  return { outcome: "refused", error: `${answered}: ${advice}.` }
}

/** Sends mails (docs/notifications.md#types). */
export const email = Effect.fnUntraced(function* (
  options: EmailOptions,
): Effect.fn.Return<Notifier, BadNotifierSetting, Scope.Scope | Ids> {
  const ids = yield* Ids
  const timeout = options.mailTimeout ?? options.timeout
  const server = yield* Effect.fromResult(parseMailServer(options.url, options)).pipe(
    Effect.mapError((message) => new BadNotifierSetting({ notifier: "messenger", setting: "url", message })),
  )
  const sendMail = yield* makeSendMail({ ...options, server, needsTls: options.tls !== "off", timeout })
  const send = (message: ChatMessage) =>
    receiptOf(sendMail(mailOf(message, options)), timeout, (answer) => Effect.succeed(judge(answer)))
  const deliver = (message: ChatMessage) => Effect.map(send(message), ({ result }) => result)
  return {
    kind: "messenger",
    send: (notification) => deliver(aboutNotification(notification)),
    sendDigest: (notifications) => deliver(aboutSeveral(notifications)),
    ...(options.tls === "off" && !isLoopback(server.host) && { caution: "sends mails without TLS" }),
    test: Effect.flatMap(Instant.now, (now) => send({ about: "test", id: ids.uuidV7(now) })),
  }
})

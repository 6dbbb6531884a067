import { alertRouter as makeAlertRouter } from "@tocsin/adapter-notify/alertrouter/alertRouter"
import { debug as debugNotifier } from "@tocsin/adapter-notify/debug/debug"
import { messengerSlack } from "@tocsin/adapter-notify/messenger/messengerSlack"
import { messengerTelegram } from "@tocsin/adapter-notify/messenger/messengerTelegram"
import { webhook as makeWebhook } from "@tocsin/adapter-notify/webhook/webhook"
import type { NotifierKind } from "@tocsin/core/contract/Status"
import type { Notifier } from "@tocsin/core/ports/Notifiers"
import { Effect, Redacted } from "effect"
import type { BuiltInNotifier, MakeNotifier } from "./NotifierOption.ts"

interface Named {
  /** Another name than that of its kind: needed where a monitor has two of one kind. See `CustomNotifier.name`. */
  readonly name?: string | undefined
}

const builtIn = (kind: NotifierKind, { name = kind }: Named, make: MakeNotifier): BuiltInNotifier => ({
  name,
  make: (posting) => Effect.map(make(posting), (made): Notifier => ({ ...made, kind: name })),
})

/** Posts JSON to any address, signed as Standard Webhooks. */
export interface WebhookOptions extends Named {
  readonly url: string
  /** `whsec_` and base64, or several while one is being replaced. */
  readonly secret: string | ReadonlyArray<string>
}

/**
 * Posts each notification as JSON, signed per Standard Webhooks. The body is described in docs/notifications.md.
 *
 * @example
 * ```ts
 * webhook({ url: "https://example.org/hook", secret: process.env.WEBHOOK_SECRET })
 * ```
 */
export const webhook = (options: WebhookOptions): BuiltInNotifier =>
  builtIn("webhook", options, (posting) =>
    makeWebhook({
      ...posting,
      url: Redacted.make(options.url),
      secrets: [options.secret].flat().map((secret) => Redacted.make(secret)),
    }),
  )

/** An incoming webhook of Slack, or of what takes the same. */
export interface SlackOptions extends Named {
  /** Its path is a credential, and is never shown or logged. */
  readonly url: string
}

/** Writes to a channel of Slack, Mattermost or another messenger that takes Slack's incoming webhooks. */
export const slack = (options: SlackOptions): BuiltInNotifier =>
  builtIn("messenger", options, (posting) => messengerSlack({ ...posting, url: Redacted.make(options.url) }))

/** A bot and a chat of Telegram. */
export interface TelegramOptions extends Named {
  /** As BotFather gave it. */
  readonly token: string
  /** Id of a chat, or `@name` of a public channel. */
  readonly chat: string
  /** Base address of a Bot API server of your own. */
  readonly apiUrl?: string | undefined
}

/** Writes to a chat as a Telegram bot. */
export const telegram = (options: TelegramOptions): BuiltInNotifier =>
  builtIn("messenger", options, (posting) =>
    messengerTelegram({
      ...posting,
      token: Redacted.make(options.token),
      chat: options.chat,
      apiUrl: options.apiUrl === undefined ? undefined : Redacted.make(options.apiUrl),
    }),
  )

/** Where a Prometheus Alertmanager is. */
export interface AlertRouterOptions {
  /** Its base address. */
  readonly url: string
}

/** Posts alerts to a Prometheus Alertmanager, again every minute while an incident is open. */
export const alertRouter = (options: AlertRouterOptions): BuiltInNotifier =>
  builtIn("alert_router", {}, (posting) => makeAlertRouter({ ...posting, url: Redacted.make(options.url) }))

/** Logs one line for each notification: what would have been sent, where nobody is told yet. */
export const debug = (): BuiltInNotifier => builtIn("debug", {}, () => Effect.succeed(debugNotifier))

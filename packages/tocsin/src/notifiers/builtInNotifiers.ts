import { alertRouter as makeAlertRouter } from "@tocsin/adapter-notify/alertrouter/alertRouter"
import { debug as debugNotifier } from "@tocsin/adapter-notify/debug/debug"
import type { TargetPolicy } from "@tocsin/adapter-notify/http/RefusedAddresses"
import { parseTarget } from "@tocsin/adapter-notify/http/Target"
import { messengerSlack } from "@tocsin/adapter-notify/messenger/messengerSlack"
import { messengerTelegram } from "@tocsin/adapter-notify/messenger/messengerTelegram"
import { parseSecrets } from "@tocsin/adapter-notify/webhook/signing"
import { webhook as makeWebhook } from "@tocsin/adapter-notify/webhook/webhook"
import type { NotifierKind } from "@tocsin/core/contract/Status"
import type { Notifier } from "@tocsin/core/ports/Notifiers"
import { Effect, Option, Redacted, Result } from "effect"
import type { BuiltInNotifier, MakeNotifier } from "./NotifierOption.ts"

interface Named {
  /** Another name than that of its kind: needed where a monitor has two of one kind. See `CustomNotifier.name`. */
  readonly name?: string | undefined
}

interface Kind<Options extends object> {
  readonly kind: NotifierKind
  readonly factory: string
  readonly known: Readonly<Record<keyof Options, true>>
  /** What is wrong with each option, completing a sentence that begins with its path; nothing where it is right. */
  readonly check: (
    options: Partial<Options>,
    policy: TargetPolicy,
  ) => { readonly [Name in keyof Options]?: string | undefined }
  readonly make: (options: Options) => MakeNotifier
}

const builtIn =
  <Options extends object>({ kind, factory, known, check, make }: Kind<Options>) =>
  (options: Options): BuiltInNotifier => {
    // Plain JavaScript can give anything; `check` says so before anything is made.
    const name = Object(options).name ?? kind
    return {
      name,
      factory,
      check: (policy, path, problems) => {
        const given = problems.group(path, options, known)
        for (const [option, problem] of Object.entries(check(given, policy))) {
          if (problem !== undefined) problems.add(`${path}.${option} ${problem}`)
        }
      },
      make: (posting) => Effect.map(make(options)(posting), (made): Notifier => ({ ...made, kind: name })),
    }
  }

const addressProblem = (address: unknown, policy: TargetPolicy): string | undefined =>
  Result.getFailure(parseTarget(Redacted.make(String(address)), policy)).pipe(Option.getOrUndefined)

const credentialProblem = (text: unknown, expected: string): string | undefined =>
  typeof text === "string" && /^[\x21-\x7e]+$/.test(text) ? undefined : `must be ${expected}`

const secretProblem = (secret: unknown): string | undefined => {
  const secrets = [secret].flat().map((one) => Redacted.make(typeof one === "string" ? one : ""))
  return Result.getFailure(parseSecrets(secrets)).pipe(Option.getOrUndefined)
}

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
export const webhook: (options: WebhookOptions) => BuiltInNotifier = builtIn<WebhookOptions>({
  kind: "webhook",
  factory: "webhook",
  known: { url: true, secret: true, name: true },
  check: ({ url, secret }, policy) => ({ url: addressProblem(url, policy), secret: secretProblem(secret) }),
  make: (options) => (posting) =>
    makeWebhook({
      ...posting,
      url: Redacted.make(options.url),
      secrets: [options.secret].flat().map((secret) => Redacted.make(secret)),
    }),
})

/** An incoming webhook of Slack, or of what takes the same. */
export interface SlackOptions extends Named {
  /** Its path is a credential, and is never shown or logged. */
  readonly url: string
}

/** Writes to a channel of Slack, Mattermost or another messenger that takes Slack's incoming webhooks. */
export const slack: (options: SlackOptions) => BuiltInNotifier = builtIn<SlackOptions>({
  kind: "messenger",
  factory: "slack",
  known: { url: true, name: true },
  check: ({ url }, policy) => ({ url: addressProblem(url, policy) }),
  make: (options) => (posting) => messengerSlack({ ...posting, url: Redacted.make(options.url) }),
})

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
export const telegram: (options: TelegramOptions) => BuiltInNotifier = builtIn<TelegramOptions>({
  kind: "messenger",
  factory: "telegram",
  known: { token: true, chat: true, apiUrl: true, name: true },
  check: ({ token, chat, apiUrl }, policy) => ({
    token: credentialProblem(token, "the token that BotFather gave, without spaces"),
    chat: credentialProblem(chat, "the id of a chat, or @ and the name of a channel"),
    apiUrl: apiUrl === undefined ? undefined : addressProblem(apiUrl, policy),
  }),
  make: (options) => (posting) =>
    messengerTelegram({
      ...posting,
      token: Redacted.make(options.token),
      chat: options.chat,
      apiUrl: options.apiUrl === undefined ? undefined : Redacted.make(options.apiUrl),
    }),
})

/** Where a Prometheus Alertmanager is. */
export interface AlertRouterOptions {
  /** Its base address. */
  readonly url: string
}

/** Posts alerts to a Prometheus Alertmanager, again every minute while an incident is open. */
export const alertRouter: (options: AlertRouterOptions) => BuiltInNotifier = builtIn<AlertRouterOptions>({
  kind: "alert_router",
  factory: "alertRouter",
  known: { url: true },
  check: ({ url }, policy) => ({ url: addressProblem(url, policy) }),
  make: (options) => (posting) => makeAlertRouter({ ...posting, url: Redacted.make(options.url) }),
})

/** Logs one line for each notification: what would have been sent, where nobody is told yet. */
export const debug = (): BuiltInNotifier => ({
  name: "debug",
  factory: "debug",
  check: () => {},
  make: () => Effect.succeed(debugNotifier),
})

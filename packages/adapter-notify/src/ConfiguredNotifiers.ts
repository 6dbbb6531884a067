import type { Receiver } from "@tocsin/contract/PolicyDocument"
import type { ReceiverType } from "@tocsin/contract/ReceiverTypes"
import type { Ids } from "@tocsin/core/ports/Ids"
import { Notifiers } from "@tocsin/core/ports/Notifiers"
import { type Duration, Effect, Layer, Result, Schema, type Scope } from "effect"
import { alertRouter, type AlertRouterOptions } from "./alertrouter/alertRouter.ts"
import { BadNotifierSetting } from "./BadNotifierSetting.ts"
import { debug } from "./debug/debug.ts"
import { DEFAULT_SEND_TIMEOUT, type PostingOptions, mailTimeout, sendTimeout } from "./http/HttpPost.ts"
import {
  messengerSlack,
  type MessengerSlackOptions,
  messengerTelegram,
  type MessengerTelegramOptions,
} from "./messenger/messenger.ts"
import { makeReceiver, type ReceiverSecrets } from "./policyReceivers.ts"
import { webhook, type WebhookOptions } from "./webhook/webhook.ts"

type Own<Options> = Omit<Options, keyof PostingOptions>

/** A notifier is made if its options are given. */
export interface NotifiersOptions {
  readonly debug: boolean
  readonly webhook?: Own<WebhookOptions> | undefined
  readonly messenger?:
    | ({ readonly form: "slack" } & Own<MessengerSlackOptions>)
    | ({ readonly form: "telegram" } & Own<MessengerTelegramOptions>)
    | undefined
  readonly alertRouter?: Own<AlertRouterOptions> | undefined
  /** Receivers of types, each named by its type. */
  readonly typed?: ReadonlyArray<{
    readonly definition: Receiver & { readonly type: ReceiverType }
    readonly secrets: ReceiverSecrets
  }>
  /** Refuses private addresses (docs/rules.md#targets). */
  readonly denyPrivateTargets?: boolean | undefined
  /** Attempts end within the lease (docs/rules.md#delivery). */
  readonly lease?: Duration.Duration | undefined
}

/** All invalid settings of notifiers. */
export class BadNotifierSettings extends Schema.TaggedError<BadNotifierSettings>()("BadNotifierSettings", {
  problems: Schema.Array(BadNotifierSetting),
}) {
  override get message(): string {
    return this.problems
      .map(({ notifier, setting, message }) => `${notifier}: ${setting} ${message}`)
      .join("\n")
  }
}

const messenger = (options: NonNullable<NotifiersOptions["messenger"]>, posting: PostingOptions) =>
  options.form === "slack"
    ? messengerSlack({ ...options, ...posting })
    : messengerTelegram({ ...options, ...posting })

const make = Effect.fnUntraced(function* (
  options: NotifiersOptions,
): Effect.fn.Return<Notifiers["Service"], BadNotifierSettings, Scope.Scope | Ids> {
  const posting: PostingOptions = {
    denyPrivateTargets: options.denyPrivateTargets ?? false,
    timeout: options.lease === undefined ? DEFAULT_SEND_TIMEOUT : sendTimeout(options.lease),
    mailTimeout: options.lease === undefined ? undefined : mailTimeout(options.lease),
  }
  const made = [
    yield* Effect.result(options.webhook ? webhook({ ...options.webhook, ...posting }) : Effect.undefined),
    yield* Effect.result(options.messenger ? messenger(options.messenger, posting) : Effect.undefined),
    yield* Effect.result(
      options.alertRouter ? alertRouter({ ...options.alertRouter, ...posting }) : Effect.undefined,
    ),
  ]
  const typed = yield* Effect.forEach(options.typed ?? [], ({ definition, secrets }) =>
    Effect.result(
      Effect.map(
        makeReceiver(definition, secrets, posting),
        (notifier) => [definition.type, notifier] as const,
      ),
    ),
  )
  const results: ReadonlyArray<Result.Result<unknown, BadNotifierSetting>> = [...made, ...typed]
  const problems = results.filter(Result.isFailure).map(({ failure }) => failure)
  if (problems.length > 0) return yield* new BadNotifierSettings({ problems })
  const notifiers = [options.debug ? debug : undefined, ...made.map(Result.getOrUndefined)]
  return new Map([
    ...notifiers.flatMap((notifier) => (notifier === undefined ? [] : [[notifier.kind, notifier] as const])),
    ...typed.flatMap((one) => (Result.isSuccess(one) ? [one.success] : [])),
  ])
})

/** The notifiers of `options`. Their connections close with the layer. */
export const layer = (options: NotifiersOptions): Layer.Layer<Notifiers, BadNotifierSettings, Ids> =>
  Layer.effect(Notifiers, make(options))

import type { Receiver } from "@tocsin/contract/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/Status"
import type { Ids } from "@tocsin/core/ports/Ids"
import { Notifiers } from "@tocsin/core/ports/Notifiers"
import { type Duration, Effect, Layer, Result, Schema, type Scope } from "effect"
import { BadNotifierSetting, DEFAULT_SEND_TIMEOUT, mailTimeout, sendTimeout } from "./http/HttpPost.ts"
import { makeReceiver, type ReceiverSecrets } from "./policyReceivers.ts"

export interface NotifiersOptions {
  /** Each is named by its type, or else its kind. */
  readonly receivers: ReadonlyArray<{ readonly definition: Receiver; readonly secrets: ReceiverSecrets }>
  /** Refuses private addresses (docs/rules.md#targets). */
  readonly denyPrivateTargets?: boolean | undefined
  /** Attempts end within the lease (docs/rules.md#delivery). */
  readonly lease?: Duration.Duration | undefined
}

export class BadNotifierSettings extends Schema.TaggedError<BadNotifierSettings>()("BadNotifierSettings", {
  problems: Schema.Array(BadNotifierSetting),
}) {
  override get message(): string {
    return this.problems
      .map(({ notifier, setting, message }) => `${notifier}: ${setting} ${message}`)
      .join("\n")
  }
}

/** The name of a receiver that no policy names. */
export const nameOf = (definition: Receiver): NotifierName =>
  "type" in definition && definition.type !== undefined ? definition.type : definition.kind

const make = Effect.fnUntraced(function* ({
  denyPrivateTargets = false,
  lease,
  receivers,
}: NotifiersOptions): Effect.fn.Return<Notifiers["Service"], BadNotifierSettings, Scope.Scope | Ids> {
  const posting = {
    denyPrivateTargets,
    timeout: lease === undefined ? DEFAULT_SEND_TIMEOUT : sendTimeout(lease),
    mailTimeout: lease && mailTimeout(lease),
  }
  const made = yield* Effect.forEach(receivers, ({ definition, secrets }) =>
    makeReceiver(definition, secrets, posting).pipe(
      Effect.map((notifier) => [nameOf(definition), notifier] as const),
      Effect.result,
    ),
  )
  const problems = made.filter(Result.isFailure).map(({ failure }) => failure)
  if (problems.length > 0) return yield* new BadNotifierSettings({ problems })
  return new Map(made.filter(Result.isSuccess).map(({ success }) => success))
})

/** The notifiers of the settings. Their connections close with the layer. */
export const layer = (options: NotifiersOptions): Layer.Layer<Notifiers, BadNotifierSettings, Ids> =>
  Layer.effect(Notifiers, make(options))

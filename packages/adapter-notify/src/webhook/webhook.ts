import * as Instant from "@tocsin/contract/Instant"
import type { Notifier, TestReceipt } from "@tocsin/core/ports/Notifiers"
import { Ids } from "@tocsin/core/ports/Ids"
import { Effect, type Redacted, Schema, type Scope } from "effect"
import { BadNotifierSetting } from "../BadNotifierSetting.ts"
import { makeHttpPost, type PostingOptions } from "../http/HttpPost.ts"
import { testText } from "../text/incidentText.ts"
import { parseSecrets, signatureHeaders } from "./signing.ts"
import { incidentMessage, WebhookMessage } from "./WebhookMessage.ts"

/** How receivers of every kind post. */
export interface ReceiverPosting extends PostingOptions {
  /** The base of links in messages, without a slash at its end; without it, there are none. */
  readonly publicUrl?: string | undefined
}

export interface WebhookOptions extends ReceiverPosting {
  readonly url: Redacted.Redacted
  /** At least one `whsec_` and base64; several during a rotation (docs/rules.md#notifiers). */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

const encode = Schema.encodeSync(Schema.fromJsonString(WebhookMessage))

/** Posts a {@link WebhookMessage}, signed as Standard Webhooks (docs/rules.md#notifiers). */
export const webhook = Effect.fnUntraced(function* (
  options: WebhookOptions,
): Effect.fn.Return<Notifier, BadNotifierSetting, Scope.Scope | Ids> {
  const ids = yield* Ids
  const keys = yield* Effect.fromResult(parseSecrets(options.secrets)).pipe(
    Effect.mapError(
      (message) => new BadNotifierSetting({ notifier: "webhook", setting: "secrets", message }),
    ),
  )
  const post = yield* makeHttpPost({ ...options, notifier: "webhook", setting: "url", address: options.url })
  const deliver = Effect.fnUntraced(function* (message: WebhookMessage): Effect.fn.Return<TestReceipt> {
    const body = encode(message)
    const at = yield* Instant.now
    return yield* post(body, signatureHeaders(keys, { id: message.data.id, at, body }))
  })
  return {
    kind: "webhook",
    send: (notification) =>
      Effect.map(deliver(incidentMessage(notification, options.publicUrl)), ({ result }) => result),
    test: Effect.flatMap(Instant.now, (now) =>
      deliver({ type: "test", version: 1, timestamp: now, data: { id: ids.uuidV7(now), text: testText } }),
    ),
  }
})

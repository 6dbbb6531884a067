import { Schema } from "effect"
import { closedStruct, described, named, optional } from "../formats/Fields.ts"
import { tokenIdOf } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { NotifierName } from "../formats/Status.ts"
import { paging } from "../v1/Parameters.ts"

export const SubscriptionId = tokenIdOf("SubscriptionId", "a browser that gets notifications").pipe(
  Schema.brand("SubscriptionId"),
)
export type SubscriptionId = typeof SubscriptionId.Type

/** The browsers that one operator has at most (docs/rules.md#browsers). */
export const MOST_SUBSCRIPTIONS = 20

const BASE64URL = /^[A-Za-z0-9_-]+={0,2}$/u

const base64url = (description: string, max: number) =>
  Schema.String.check(
    Schema.isMaxLength(max),
    Schema.isPattern(BASE64URL, { expected: "base64url" }),
  ).annotate({
    description,
  })

const LONGEST_ENDPOINT = 2_048
const ENDPOINT_RULE = { expected: `an address of at most ${LONGEST_ENDPOINT} visible ASCII characters` }

const subscriptionName = Schema.String.check(
  Schema.isPattern(/^(?!\s*$)[^\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]{1,100}$/u, {
    expected: "1 to 100 characters, without control characters",
  }),
)

/** The subscription that `PushSubscription.toJSON()` gives in a browser, and a name for people. */
export const SubscriptionRequest = closedStruct({
  endpoint: Schema.RedactedFromValue(
    Schema.String.check(
      Schema.isMaxLength(LONGEST_ENDPOINT),
      Schema.isPattern(/^[\x21-\x7e]+$/u, ENDPOINT_RULE),
    ).annotate({
      description: "The address of the browser at its push service.",
      writeOnly: true,
    }),
  ),
  expirationTime: optional(Schema.NullOr(Schema.Finite), "As the browser gives it. It decides nothing."),
  keys: closedStruct({
    p256dh: Schema.RedactedFromValue(
      base64url("The browser's public key: a point of P-256, uncompressed.", 128),
    ),
    auth: Schema.RedactedFromValue(base64url("The browser's authentication secret: 16 bytes.", 64)),
  }),
  name: optional(subscriptionName, "Its name for people; made of User-Agent unless given."),
}).annotate(named("SubscriptionRequest", "A browser that shall get notifications."))
export type SubscriptionRequest = typeof SubscriptionRequest.Type

const moment = (description: string) => Schema.NullOr(InstantFromString).annotateKey({ description })

export const Subscription = Schema.Struct({
  id: SubscriptionId,
  operator: Schema.String.annotateKey({ description: "Whose browser it is." }),
  name: Schema.String.annotateKey({ description: "Its name for people." }),
  service: Schema.String.annotateKey({ description: "The host of its push service." }),
  created_at: InstantFromString,
  taken_at: moment("When its push service last took a message; null if it never did."),
  shown_at: moment("When it last showed a notification; null if it never did."),
  last_error: described(Schema.NullOr(Schema.String), "Why the last message was not taken; null if it was."),
  expires_at: optional(
    InstantFromString,
    "When it ends unless its person signs in again; absent of an operator with a token.",
  ),
}).annotate(named("Subscription", "A browser that gets notifications, without its address and keys."))
export type Subscription = typeof Subscription.Type

/** The same, in the answer that makes one: its class decides the status of the answer. */
export class NewSubscription extends Schema.Class<NewSubscription>("NewSubscription")(
  Schema.Struct(Subscription.fields).annotate(
    named("NewSubscription", "A browser that gets notifications from now on."),
  ),
) {}

export const PushState = Schema.Struct({
  public_key: optional(
    Schema.String,
    "The server's VAPID key, by which browsers subscribe: 65 bytes as base64url.",
  ),
  problem: optional(Schema.String, "Why no browser can subscribe now, in place of the key."),
  receiver: optional(NotifierName, "The receiver of the policy that names the caller."),
}).annotate(named("PushState", "How browsers subscribe."))
export type PushState = typeof PushState.Type

export const PushKey = Schema.Struct({
  public_key: Schema.String.annotateKey({ description: "The new VAPID key: 65 bytes as base64url." }),
}).annotate(named("PushKey", "The key by which browsers subscribe from now on."))

export const SubscriptionPath = Schema.Struct({
  id: SubscriptionId.annotateKey({ description: "The id of a subscription." }),
})

export const SubscriptionListParameters = Schema.Struct({
  ...paging,
  operator: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^[a-z0-9._:-]{1,128}$/u, { expected: "the name of an operator" }),
    ).annotate({
      description: "Only the browsers of this operator; for admins.",
    }),
  ),
})

/** Its columns as CSV: see `csvText`. */
export const subscriptionColumns = "id operator name service created_at taken_at shown_at last_error"

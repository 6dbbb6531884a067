import { Option, Predicate } from "effect"
import { invalid, type Reading, type Refusal } from "./Report.ts"

/** An address of Amazon SNS, where alone a subscription is confirmed: its host, without user and port. */
const ADDRESS = /^https:\/\/sns\.[a-z0-9-]{3,32}\.amazonaws\.com(?:\.cn)?\/[!-~]*$/u

const parsed = Option.liftThrowable((text: string): unknown => JSON.parse(text))

const NOTHING: Reading = { reports: [], refusals: [], heard: [] }

/**
 * The content of a message of Amazon SNS: the JSON in a notification, or itself where that is plain text; the
 * confirmation of a subscription, and its end. `undefined` for other JSON (docs/rules.md#other-json).
 */
export const readSns = (json: unknown): { readonly json: unknown } | Reading | Refusal | undefined => {
  if (!Predicate.isObject(json)) return undefined
  const { Message, SubscribeURL, TopicArn, Type } = json
  if (typeof TopicArn !== "string" || !TopicArn.startsWith("arn:") || typeof Message !== "string")
    return undefined
  switch (Type) {
    case "Notification": {
      const inside = Option.getOrUndefined(parsed(Message))
      return { json: Predicate.isObjectOrArray(inside) ? inside : json }
    }
    case "SubscriptionConfirmation": {
      return typeof SubscribeURL !== "string" || !ADDRESS.test(SubscribeURL)
        ? invalid(
            "the SubscribeURL must be an https address of Amazon SNS, such as https://sns.eu-central-1.amazonaws.com/: the subscription is not confirmed",
          )
        : { ...NOTHING, confirms: SubscribeURL }
    }
    case "UnsubscribeConfirmation":
      return {
        ...NOTHING,
        refusals: [
          {
            refused: "ignored",
            message: "Amazon SNS sends no more messages of its topic here: subscribe again if it shall",
          },
        ],
      }
    default:
      return undefined
  }
}

import { Duration, Effect } from "effect"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { Policy } from "../policy/compilePolicy.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import type { DeliveryAttempt, MessageLinks } from "./Notifiers.ts"
import { LinkSigner } from "../../kernel/ports/Hashing.ts"
import { publicUrlOf, RuleSettings } from "../../kernel/ports/RuleSettings.ts"

/** How long a link in the messages of a receiver acknowledges; nothing if they have none. */
export const acknowledgesFor = (
  { receivers }: Policy,
  receiver: NotifierName,
  longest: Duration.Duration,
): Duration.Duration | undefined => {
  const length = receivers.get(receiver)?.definition?.acknowledge
  return length && Duration.min(length, longest)
}

/** Makes the links of a message (docs/rules.md#links), none without a public address, and finds its reader. */
export const makeForReader = Effect.gen(function* () {
  const rules = yield* RuleSettings
  const tokens = yield* LinkSigner
  const { current } = yield* PolicyInForce
  const linksOf = ({ event_type, id, incident, receiver }: DeliveryAttempt): MessageLinks | undefined => {
    const publicUrl = publicUrlOf(rules)
    if (publicUrl === undefined) return undefined
    const length =
      event_type === "firing" && acknowledgesFor(current(), receiver, rules.longestAcknowledgement)
    return {
      incident: `${publicUrl}/#/incidents/${incident.id}`,
      acknowledge:
        tokens && length ? { url: `${publicUrl}/a/${tokens.tokenOf(id)}`, for: length } : undefined,
    }
  }
  return (notification: DeliveryAttempt): DeliveryAttempt => ({
    ...notification,
    links: linksOf(notification),
    ...current().readerOf(notification.receiver),
  })
})

import { Context, Effect } from "effect"
import { RateLimited } from "../../heart/admission/AdmissionErrors.ts"

/** Confirms the subscriptions of services that send only where someone has opened an address that they named. */
export interface Subscriptions {
  /** Opens an address that its integration has allowed. Returns why it is not confirmed; `undefined` if it is. */
  readonly confirm: (address: string) => Effect.Effect<string | undefined>
}

/** {@link Subscriptions}; absent where the process opens no addresses. */
export const Subscriptions = Context.Reference<Subscriptions | undefined>(
  "@tocsin/core/features/integrations/Subscriptions",
  { defaultValue: () => undefined },
)

const NO_CONFIRMATION = "This program opens no addresses: open the SubscribeURL of the message."
const RETRY_SECONDS = 60

/** Opens the address of a request that asks for it; a sender that shall try again is answered 429. */
export const confirmed = Effect.fnUntraced(function* (
  address: string,
  subscriptions: Subscriptions | undefined,
) {
  const problem = subscriptions === undefined ? NO_CONFIRMATION : yield* subscriptions.confirm(address)
  if (problem === undefined) return
  const message = `the subscription is not confirmed. ${problem}`
  yield* Effect.logWarning(message)
  return yield* new RateLimited({ message, retryAfterSeconds: RETRY_SECONDS })
})

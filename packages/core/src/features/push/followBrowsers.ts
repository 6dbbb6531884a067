import { Effect, Semaphore } from "effect"
import type { Put } from "../../heart/usecases/followStoredPolicy.ts"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { acknowledgesFor } from "../../heart/notifications/messageLinks.ts"
import type { DeliveryAttempt, Notifier, SendResult } from "../../heart/notifications/Notifiers.ts"
import { type Policy, withUnavailable } from "../../heart/policy/compilePolicy.ts"
import { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import { LinkSigner } from "../../kernel/ports/Hashing.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import type { PushSubject } from "./pushMessage.ts"
import { browserReceivers, type FindingBrowsers } from "./findBrowsers.ts"
import type { ReachingBrowsers } from "./reachingBrowsers.ts"

/** Makes the notifiers of browsers send by their subscriptions; others stay as they are. */
export const bindingBrowsers = Effect.fnUntraced(function* ({ attempt }: Pick<ReachingBrowsers, "attempt">) {
  const { longestAcknowledgement } = yield* RuleSettings
  const { current } = yield* PolicyInForce
  const tokens = yield* LinkSigner
  const about = (notification: DeliveryAttempt): PushSubject => {
    const length = acknowledgesFor(current(), notification.receiver, longestAcknowledgement)
    const acts = notification.event_type === "firing" && length !== undefined && tokens !== undefined
    return {
      about: "notification",
      notification,
      acknowledge: acts ? { token: tokens.tokenOf(notification.id), for: length } : undefined,
    }
  }
  return (notifier: Notifier): Notifier => {
    if (notifier.browsersOf === undefined) return notifier
    const { isShadow, lang, operator } = notifier.browsersOf
    const send = (subject: PushSubject): Effect.Effect<SendResult> =>
      Effect.map(attempt(operator, subject), ({ result }) => result)
    return {
      ...notifier,
      ...(isShadow !== true && {
        send: (notification: DeliveryAttempt) => send(about(notification)),
        sendDigest: (notifications: ReadonlyArray<DeliveryAttempt>) =>
          send({ about: "digest", notifications }),
      }),
      test: attempt(operator, { about: "test", lang }),
    }
  }
})

/**
 * Puts policies in force with the receivers that are browsers: those that reach nobody are unavailable, so that their
 * notifications wait. `look` finds who can be reached by now.
 */
export const followingBrowsers = <E>(
  bind: (notifier: Notifier) => Notifier,
  { marksOf, unreachable }: Pick<FindingBrowsers, "marksOf" | "unreachable">,
  { begin, replace }: { readonly begin: Put<never>; readonly replace: Put<E> },
) => {
  let latest: { readonly policy: Policy; readonly notifiers: ReadonlyMap<NotifierName, Notifier> } | undefined
  let shown = ""
  const inTurn = Semaphore.makeUnsafe(1).withPermits(1)
  const textOf = (...found: ReadonlyArray<ReadonlyMap<NotifierName, string>>) =>
    JSON.stringify(found.map((each) => Array.from(each)))
  const putWith = Effect.fnUntraced(function* <F>(
    { notifiers, policy }: NonNullable<typeof latest>,
    [reasons, browserMarks]: readonly [ReadonlyMap<NotifierName, string>, ReadonlyMap<NotifierName, string>],
    put: Put<F>,
  ) {
    const usable = Array.from(notifiers).filter(([name]) => !reasons.has(name))
    const bound = usable.map(([name, notifier]) => [name, bind(notifier)] as const)
    yield* put(withUnavailable({ ...policy, browserMarks }, reasons), new Map(bound))
    latest = { policy, notifiers }
    shown = textOf(reasons, browserMarks)
  })
  const findIn = ({ document }: Policy) => Effect.all([unreachable(document), marksOf(document)])
  const following =
    <F>(put: Put<F>): Put<F> =>
    (policy, notifiers) =>
      Effect.flatMap(findIn(policy), (found) => putWith({ policy, notifiers }, found, put)).pipe(inTurn)
  return {
    begin: following(begin),
    replace: following(replace),
    /** Puts the present policy in force again if others can be reached than before. */
    look: Effect.gen(function* () {
      if (latest === undefined || browserReceivers(latest.policy.document).length === 0) return
      const found = yield* findIn(latest.policy)
      if (textOf(...found) !== shown) yield* putWith(latest, found, replace)
    }).pipe(inTurn),
  }
}

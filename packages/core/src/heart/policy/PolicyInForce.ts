import { Context, Effect, Layer, PubSub, Stream } from "effect"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import {
  compileGiven,
  LACKED,
  lastingReceivers,
  type Policy,
  type PolicyNotifiers,
  withUnavailable,
} from "./compilePolicy.ts"

/** The policy that decisions follow at this moment. Another one may replace it while the service runs. */
export class PolicyInForce extends Context.Service<PolicyInForce>()(
  "@tocsin/core/heart/policy/PolicyInForce",
  {
    make: Effect.gen(function* () {
      const settings = yield* RuleSettings
      const replacements = yield* PubSub.unbounded<void>()
      let policy: Policy = compileGiven(settings.policy, settings)
      let elsewhere: ReadonlyArray<NotifierName> = []
      let since = yield* Instant.now
      let followed = since
      /** The receivers outside policies, those of other live servers included. */
      const given = (): PolicyNotifiers => ({ ...settings, elsewhere })
      /** A policy with the receivers of other servers, and without those that none gives any more. */
      const beside = (next: Policy): Policy => {
        const compiled = compileGiven(next.document, given())
        const others = Array.from(next.unavailable ?? []).filter(([, reason]) => reason !== LACKED)
        return withUnavailable(
          { ...next, ...compiled, unavailable: compiled.unavailable ?? new Map() },
          new Map(others),
        )
      }
      const putInForce = Effect.fnUntraced(function* (next: Policy) {
        if (next.document !== policy.document) since = followed = yield* Instant.now
        policy = next
        yield* PubSub.publish(replacements, undefined)
      })
      return {
        /** The policy now. A decision reads it once; a use case reads it for each decision. */
        current: () => policy,
        /** Since when this process follows its document. */
        since: () => since,
        /** Since when its document is in force, also in processes before this one; by now, if a clock was set back. */
        inForceSince: (now: Instant.Instant) => (followed = Instant.min(followed, now)),
        /** Other processes followed a document before. */
        wasFollowed: (document: PolicyDocument, from: Instant.Instant): void => {
          if (policy.document === document) followed = Instant.min(from, followed)
        },
        given,
        elsewhere: () => elsewhere,
        /** Puts another policy in force for every decision from now on. */
        replace: (next: Policy) =>
          Effect.suspend(() => putInForce(elsewhere.length === 0 ? next : beside(next))),
        /** Has the receivers that other live servers give among every receiver. */
        giveElsewhere: (names: Iterable<NotifierName>) =>
          Effect.suspend(() => {
            const own = lastingReceivers(settings)
            const next = Array.from(names)
              .filter((name) => !own.includes(name))
              .toSorted()
            if (next.join() === elsewhere.join()) return Effect.void
            elsewhere = next
            return putInForce(beside(policy))
          }),
        replaced: Stream.fromPubSub(replacements),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(PolicyInForce, PolicyInForce.make)
}

import { Context, Effect, Layer, PubSub, Stream } from "effect"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { compileGiven, type Policy } from "./compilePolicy.ts"

/** The policy that decisions follow at this moment. Another one may replace it while the service runs. */
export class PolicyInForce extends Context.Service<PolicyInForce>()("@tocsin/core/policy/PolicyInForce", {
  make: Effect.gen(function* () {
    const settings = yield* RuleSettings
    const replacements = yield* PubSub.unbounded<void>()
    let policy: Policy = compileGiven(settings.policy, settings)
    return {
      /** The policy now. A decision reads it once; a use case reads it for each decision. */
      current: () => policy,
      /** Puts another policy in force for every decision from now on. */
      replace: (next: Policy) =>
        Effect.suspend(() => {
          policy = next
          return Effect.asVoid(PubSub.publish(replacements, undefined))
        }),
      replaced: Stream.fromPubSub(replacements),
    }
  }),
}) {
  static readonly layer = Layer.effect(PolicyInForce, PolicyInForce.make)
}

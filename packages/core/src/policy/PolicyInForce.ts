import { Context, Effect, Layer, PubSub, Stream } from "effect"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { compileGiven, type Policy } from "./compilePolicy.ts"

/** The policy that decisions follow at this moment. Another one may replace it while the service runs. */
export class PolicyInForce extends Context.Service<
  PolicyInForce,
  {
    /** The policy now. A decision reads it once; a use case reads it for each decision. */
    readonly current: () => Policy
    /** Puts another policy in force for every decision from now on. */
    readonly replace: (policy: Policy) => Effect.Effect<void>
    readonly replaced: Stream.Stream<void>
  }
>()("@tocsin/core/policy/PolicyInForce") {
  static readonly layer: Layer.Layer<PolicyInForce> = Layer.effect(
    PolicyInForce,
    Effect.gen(function* () {
      const settings = yield* RuleSettings
      const replacements = yield* PubSub.unbounded<void>()
      let policy = compileGiven(settings.policy, settings)
      return PolicyInForce.of({
        current: () => policy,
        replace: (next) =>
          Effect.suspend(() => {
            policy = next
            return Effect.asVoid(PubSub.publish(replacements, undefined))
          }),
        replaced: Stream.fromPubSub(replacements),
      })
    }),
  )
}

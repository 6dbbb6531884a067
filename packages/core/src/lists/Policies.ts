import { Context, Effect, Layer } from "effect"
import { changingReceivers } from "../features/receivers/changingReceivers.ts"
import { refusingPlainSecrets } from "../features/receivers/plainSecrets.ts"
import { Push } from "../features/push/Push.ts"
import { withReports } from "../features/report/shownReports.ts"
import { PolicyInForce } from "../heart/policy/PolicyInForce.ts"
import { applyingPolicies } from "../heart/usecases/applyingPolicies.ts"
import { patchingPolicy } from "../heart/usecases/patchingPolicy.ts"
import { shownPolicies } from "../heart/usecases/shownPolicy.ts"
import { Storage } from "../kernel/ports/Storage.ts"
import { findersOfLost } from "./findLostUnder.ts"
import { FollowedPolicy } from "./FollowedPolicy.ts"

/** The policy in force, for operators (docs/rules.md#policy). */
export class Policies extends Context.Service<Policies>()("@tocsin/core/lists/Policies", {
  make: Effect.gen(function* () {
    const inForce = yield* PolicyInForce
    const storage = yield* Storage
    const push = yield* Push
    const { bind, look: lookForBrowsers, readSecrets, replace, ...followed } = yield* FollowedPolicy
    const { openWith, store, ...applying } = yield* applyingPolicies({
      readSecrets,
      plainSecrets: refusingPlainSecrets(inForce, storage),
      unreachable: push.unreachable,
      ...findersOfLost(storage),
    })
    const shown = yield* shownPolicies
    return {
      ...followed,
      ...applying,
      ...shown,
      current: Effect.flatMap(shown.current, (state) => withReports(storage, inForce.current(), state)),
      ...(yield* patchingPolicy({ ...applying, store })),
      ...(yield* changingReceivers({ ...applying, openWith, store }, bind)),
      /**
       * Puts another policy in force with the notifiers of its receivers, once the audit has it. Refused
       * while a server runs that would not follow it.
       */
      replace,
      /** Finds which receivers that are browsers can be reached by now. */
      lookForBrowsers,
    }
  }),
}) {
  static readonly layer = Layer.provideMerge(Layer.effect(Policies, Policies.make), FollowedPolicy.layer)
}

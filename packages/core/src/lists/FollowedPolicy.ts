import { Context, Effect, Layer } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { browserReceivers } from "../features/push/findBrowsers.ts"
import { bindingBrowsers, followingBrowsers } from "../features/push/followBrowsers.ts"
import { Push } from "../features/push/Push.ts"
import { namedSecretsReader } from "../features/receivers/Secrets.ts"
import { Receivers } from "../heart/notifications/Receivers.ts"
import { PolicyInForce } from "../heart/policy/PolicyInForce.ts"
import { givenReceivers } from "../heart/replicas/listedReceivers.ts"
import { followStoredPolicy } from "../heart/usecases/followStoredPolicy.ts"
import { Recollection } from "../heart/usecases/Recollection.ts"
import { PolicySource } from "../heart/usecases/PolicySource.ts"
import { replacingPolicies } from "../heart/usecases/applyingPolicies.ts"
import { SecretCipher } from "../kernel/ports/SecretCipher.ts"
import { Storage } from "../kernel/ports/Storage.ts"

/** Has the policy in force that this process follows, before anything is decided (docs/rules.md#a-stored-policy). */
export class FollowedPolicy extends Context.Service<FollowedPolicy>()("@tocsin/core/lists/FollowedPolicy", {
  make: Effect.gen(function* () {
    const inForce = yield* PolicyInForce
    const storage = yield* Storage
    const push = yield* Push
    const bind = yield* bindingBrowsers(push)
    const { begin, look, replace } = followingBrowsers(bind, push, yield* replacingPolicies)
    const readSecrets = namedSecretsReader(storage, yield* SecretCipher)
    // The report to the other servers finds later ones.
    const replicas = yield* storage.replicas
    yield* inForce.giveElsewhere(givenReceivers(replicas, yield* Instant.now))
    const followed = yield* followStoredPolicy(inForce.given, { begin, readSecrets, replace })
    // A policy that the program gives is in force already, and its notifiers as they were made.
    const isGiven = (yield* PolicySource).source === "given"
    if (isGiven && browserReceivers(inForce.current().document).length > 0)
      yield* begin(inForce.current(), (yield* Receivers).given)
    yield* (yield* Recollection).recollect(inForce.current(), replicas)
    return { ...followed, bind, look, readSecrets, replace }
  }),
}) {
  static readonly layer = Layer.effect(FollowedPolicy, FollowedPolicy.make).pipe(
    Layer.provide(Recollection.layer),
    Layer.provideMerge(Push.layer),
  )
}

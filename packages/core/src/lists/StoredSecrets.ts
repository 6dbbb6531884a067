import { Context, Effect, Layer } from "effect"
import { Push } from "../features/push/Push.ts"
import { secretOperations } from "../features/receivers/Secrets.ts"
import { watchSecrets } from "../features/watches/watchSecrets.ts"
import { FollowedPolicy } from "./FollowedPolicy.ts"

/** The stored secrets of receivers, watches and browsers (docs/rules.md#stored-secrets). */
export class StoredSecrets extends Context.Service<StoredSecrets>()("@tocsin/core/lists/StoredSecrets", {
  make: Effect.gen(function* () {
    const { followedVersion } = yield* FollowedPolicy
    const secrets = yield* secretOperations(followedVersion)
    const watches = yield* watchSecrets
    const push = yield* Push
    return {
      ...secrets,
      watchStates: watches.states,
      /** Encrypts by the first key what only the second one opens, and header fields in clear. */
      encryptAgain: Effect.andThen(
        Effect.andThen(secrets.encryptAgain, push.encryptAgain),
        Effect.asVoid(watches.seal),
      ),
    }
  }),
}) {
  static readonly layer = Layer.provideMerge(
    Layer.effect(StoredSecrets, StoredSecrets.make),
    FollowedPolicy.layer,
  )
}

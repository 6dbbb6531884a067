import { Context, Effect, Layer } from "effect"
import { changingReceivers } from "../features/receivers/changingReceivers.ts"
import { findLostOverrides } from "../features/onCall/overrideDecisions.ts"
import { refusingPlainSecrets } from "../features/receivers/plainSecrets.ts"
import { findUnknownOperators } from "../features/push/findBrowsers.ts"
import { Push } from "../features/push/Push.ts"
import { withReports } from "../features/report/shownReports.ts"
import { secretOperations } from "../features/receivers/Secrets.ts"
import { watchSecrets } from "../features/watches/watchSecrets.ts"
import { tryingPolicy } from "../features/trial/tryingPolicy.ts"
import { PolicyInForce } from "../heart/policy/PolicyInForce.ts"
import { applyingPolicies } from "../heart/usecases/applyingPolicies.ts"
import { patchingPolicy } from "../heart/usecases/patchingPolicy.ts"
import { shownPolicies } from "../heart/usecases/shownPolicy.ts"
import { Hashing } from "../kernel/ports/Hashing.ts"
import { Commits } from "../kernel/engine/commits/Commits.ts"
import { Storage } from "../kernel/ports/Storage.ts"
import { listLinesUnder } from "./findLostUnder.ts"
import { FollowedPolicy } from "./FollowedPolicy.ts"

/** The policy in force, for operators (docs/rules.md#policy). */
export class Policies extends Context.Service<Policies>()("@tocsin/core/lists/Policies", {
  make: Effect.gen(function* () {
    const inForce = yield* PolicyInForce
    const storage = yield* Storage
    const commits = yield* Commits
    const { sha256 } = yield* Hashing
    const push = yield* Push
    const { bind, look: lookForBrowsers, readSecrets, replace, ...followed } = yield* FollowedPolicy
    const { openWith, store, ...applying } = yield* applyingPolicies({
      readSecrets,
      findLostOverrides,
      plainSecrets: refusingPlainSecrets(inForce, storage),
      unreachable: push.unreachable,
      unknownOperators: findUnknownOperators(storage),
    })
    const secrets = yield* secretOperations(followed.followedVersion)
    const watches = yield* watchSecrets
    const shown = yield* shownPolicies
    return {
      ...followed,
      ...applying,
      ...shown,
      current: Effect.flatMap(shown.current, (state) => withReports(storage, inForce.current(), state)),
      ...(yield* patchingPolicy({ ...applying, store })),
      ...(yield* changingReceivers({ ...applying, openWith, store }, bind)),
      secrets: {
        ...secrets,
        /** The states of header fields of watches here. */
        watchStates: watches.states,
        /** The same with header fields in clear. */
        encryptAgain: Effect.andThen(
          Effect.andThen(secrets.encryptAgain, push.encryptAgain),
          Effect.asVoid(watches.seal),
        ),
      },
      try: yield* tryingPolicy,
      lines: listLinesUnder(storage, commits, sha256),
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

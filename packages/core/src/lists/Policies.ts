import { Context, Effect, Layer } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { listLines } from "../features/publicPages/lineChecks.ts"
import { changingReceivers } from "../features/receivers/changingReceivers.ts"
import { findLostOverrides } from "../features/onCall/overrideDecisions.ts"
import { refusingPlainSecrets } from "../features/receivers/plainSecrets.ts"
import { browserReceivers, findUnknownOperators } from "../features/push/findBrowsers.ts"
import { bindingBrowsers, followingBrowsers } from "../features/push/followBrowsers.ts"
import { Push } from "../features/push/Push.ts"
import { Receivers } from "../heart/notifications/Receivers.ts"
import { PolicySource } from "../heart/usecases/PolicySource.ts"
import { SecretCipher } from "../kernel/ports/SecretCipher.ts"
import { withReports } from "../features/report/shownReports.ts"
import { namedSecretsReader, secretOperations } from "../features/receivers/Secrets.ts"
import { placeWarnings } from "../features/watches/placeWarnings.ts"
import { watchSecrets } from "../features/watches/watchSecrets.ts"
import { tryingPolicy } from "../features/trial/tryingPolicy.ts"
import { PolicyInForce } from "../heart/policy/PolicyInForce.ts"
import { givenReceivers } from "../heart/replicas/listedReceivers.ts"
import { applyingPolicies } from "../heart/usecases/applyingPolicies.ts"
import { followStoredPolicy } from "../heart/usecases/followStoredPolicy.ts"
import { patchingPolicy } from "../heart/usecases/patchingPolicy.ts"
import { replacingPolicies } from "../heart/usecases/replacingPolicies.ts"
import { shownPolicies } from "../heart/usecases/shownPolicy.ts"
import { Hashing } from "../kernel/ports/Hashing.ts"
import { Commits } from "../kernel/engine/commits/Commits.ts"
import { Storage } from "../kernel/ports/Storage.ts"

/** The policy in force, for operators (docs/rules.md#policy). */
export class Policies extends Context.Service<Policies>()("@tocsin/core/lists/Policies", {
  make: Effect.gen(function* () {
    const inForce = yield* PolicyInForce
    const storage = yield* Storage
    const commits = yield* Commits
    const { sha256 } = yield* Hashing
    const push = yield* Push
    const bind = yield* bindingBrowsers(push)
    const { begin, look: lookForBrowsers, replace } = followingBrowsers(bind, push, yield* replacingPolicies)
    const readSecrets = namedSecretsReader(storage, yield* SecretCipher)
    const { openWith, store, ...applying } = yield* applyingPolicies({
      readSecrets,
      findLostOverrides,
      plainSecrets: refusingPlainSecrets(inForce, storage),
      unreachable: push.unreachable,
      unknownOperators: findUnknownOperators(storage),
    })
    // Before anything is decided; the report to the other servers finds later ones.
    yield* inForce.giveElsewhere(givenReceivers(yield* storage.replicas, yield* Instant.now))
    const followed = yield* followStoredPolicy(inForce.given, { begin, readSecrets, replace })
    // A policy that the program gives is in force already, and its notifiers as they were made.
    const isGiven = (yield* PolicySource).source === "given"
    if (isGiven && browserReceivers(inForce.current().document).length > 0)
      yield* begin(inForce.current(), (yield* Receivers).given)
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
      /** The checks of the lines of public pages under a policy, and warnings by what is stored. */
      lines: (document: PolicyDocument) =>
        Effect.zipWith(
          listLines(storage, sha256, document),
          placeWarnings(commits, document),
          (listed, warnings) => ({ ...listed, warnings: [...listed.warnings, ...warnings] }),
        ),
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
  static readonly layer = Layer.provideMerge(Layer.effect(Policies, Policies.make), Push.layer)
}

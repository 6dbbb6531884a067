import { Receivers } from "@tocsin/core/notifications/Receivers"
import { compilePolicy, receiversGiven } from "@tocsin/core/policy/compilePolicy"
import { PolicyInForce } from "@tocsin/core/policy/PolicyInForce"
import { Ids } from "@tocsin/core/ports/Ids"
import { Effect, Layer, Result, Scope } from "effect"
import { policyNotifiers } from "../rules.ts"
import type { Secrets } from "../Secrets.ts"
import { loadPolicy } from "./loadPolicy.ts"

/**
 * Reads the policy file and the secrets of its receivers again when the settings are. A refused
 * file changes nothing. Former notifiers live as long as the server, because they may be in use.
 */
export const policyReloading = (secrets: Secrets) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const policy = yield* PolicyInForce
      const receivers = yield* Receivers
      const ids = yield* Ids
      const scope = yield* Effect.scope
      secrets.follow(
        Effect.fnUntraced(function* (settings) {
          const load = Effect.provideService(loadPolicy(settings), Ids, ids)
          const loaded = yield* Effect.result(Effect.provideService(load, Scope.Scope, scope))
          if (Result.isFailure(loaded)) {
            return yield* Effect.annotateLogs(
              Effect.logError(
                "cannot reload the policy because its file is not valid; keeping the current one",
              ),
              { problem: loaded.failure.lines.join("; ") },
            )
          }
          const { document } = loaded.success
          yield* receivers.replace(loaded.success.receivers)
          yield* policy.replace(compilePolicy(document, receiversGiven(document, policyNotifiers(settings))))
          if (settings.SERVICE_POLICY_FILE !== undefined) yield* Effect.logInfo("the policy was read again")
        }),
      )
    }),
  )

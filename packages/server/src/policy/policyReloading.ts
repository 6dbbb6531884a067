import { compileGiven } from "@tocsin/core/heart/policy/compilePolicy"
import { CurrentOperator, systemOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { StateConflict } from "@tocsin/core/kernel/engine/OperationErrors"
import { Policies } from "@tocsin/core/lists/Policies"
import { Effect, Layer, Result, Scope } from "effect"
import { policyNotifiers } from "../rules.ts"
import type { Secrets } from "../Secrets.ts"
import { loadPolicy } from "./loadPolicy.ts"

const NOT_PUT_IN_FORCE = "cannot put the policy in force; keeping the current one until the next SIGHUP"

const orComplain = (put: Effect.Effect<void, StateConflict | StorageError>) =>
  Effect.catch(Effect.provideService(put, CurrentOperator, systemOperator), ({ message: problem }) =>
    Effect.annotateLogs(Effect.logError(NOT_PUT_IN_FORCE), { problem }),
  )

/**
 * Reads the policy file and the secrets of its receivers again when the settings are. A refused
 * file changes nothing. Former notifiers live as long as the server, because they may be in use.
 */
export const policyReloading = (secrets: Secrets) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const policies = yield* Policies
      const ids = yield* Ids
      const scope = yield* Effect.scope
      secrets.follow(
        Effect.fnUntraced(function* (settings) {
          if (settings.SERVICE_POLICY_FILE === undefined) return yield* orComplain(policies.reload)
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
          const { document, receivers } = loaded.success
          const policy = compileGiven(document, policyNotifiers(settings))
          yield* orComplain(
            Effect.andThen(policies.replace(policy, receivers), Effect.logInfo("the policy was read again")),
          )
        }),
      )
    }),
  )

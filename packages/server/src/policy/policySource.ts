import { storedPolicySource } from "@tocsin/adapter-notify/storedPolicySource"
import { compileGiven } from "@tocsin/core/heart/policy/compilePolicy"
import { CurrentOperator, systemOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import type { PolicySource } from "@tocsin/core/heart/usecases/PolicySource"
import type { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { StateConflict } from "@tocsin/core/kernel/engine/OperationErrors"
import { Policies } from "@tocsin/core/lists/Policies"
import { Effect, Layer, Result, Scope } from "effect"
import { postingOf, withOutsiders } from "../notifiers.ts"
import { policyNotifiers } from "../rules.ts"
import type { Secrets } from "../Secrets.ts"
import type { Settings } from "../settings/Settings.ts"
import { loadPolicy } from "./loadPolicy.ts"
import { readApplied, readPatched, readStored } from "./policyReading.ts"

const FILE_DECIDES =
  "SERVICE_POLICY_FILE is set, so that file decides on the policy: change it and send SIGHUP, or unset it"

/**
 * Where the policy of a process with these settings comes from. One that is stored follows `secrets`.
 * Notifiers live as long as the scope, because attempts may be under way.
 */
export const policySource = Effect.fnUntraced(function* (
  initial: Settings,
  secrets?: Secrets,
): Effect.fn.Return<PolicySource, never, Ids | Scope.Scope> {
  if (initial.SERVICE_POLICY_FILE !== undefined)
    return { source: "given", advice: FILE_DECIDES, follow: (text) => readStored(text, initial) }
  let settings = initial
  secrets?.follow((read) => Effect.sync(() => void (settings = { ...read, stored: initial.stored })))
  return yield* storedPolicySource({
    readApplied: (text, elsewhere, change) => readApplied(text, settings, elsewhere, change),
    readPatched: (text, patch, elsewhere) => readPatched(text, settings, elsewhere, patch),
    readStored: (text) => readStored(text, settings),
    places: () => ({
      posting: postingOf(settings),
      folder: settings.SERVICE_SECRETS_DIR,
      mayReachLoopback: settings.SERVICE_WATCH_LOOPBACK === true,
    }),
    outside: () => policyNotifiers(settings),
    withOutsiders: (made) => withOutsiders(settings, made),
    // A command sends nothing.
    sends: secrets !== undefined,
  })
})

/** The policy in force by the settings: that of their file, or of their database. */
export const presentPolicy = Effect.fnUntraced(function* (
  settings: Settings,
  { policyVersions }: Storage["Service"],
) {
  const [newest] = settings.SERVICE_POLICY_FILE === undefined ? yield* policyVersions(0, 1) : []
  if (newest !== undefined) return (yield* readStored(newest.text, settings)).document
  return (yield* loadPolicy(settings)).document
})

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

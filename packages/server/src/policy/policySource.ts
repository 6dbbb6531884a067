import { storedPolicySource } from "@tocsin/adapter-notify/storedPolicySource"
import type { Ids } from "@tocsin/core/kernel/ports/Ids"
import type { PolicySource } from "@tocsin/core/heart/usecases/PolicySource"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Effect, type Scope } from "effect"
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

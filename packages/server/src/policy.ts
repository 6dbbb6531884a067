import { KeyFingerprint } from "@tocsin/core/contract/Identifiers"
import { defaultPolicy, type PolicyOptions } from "@tocsin/core/ports/Policy"
import type { Settings } from "./settings/Settings.ts"

/** The policy that the settings ask for. */
export const policyOf = (settings: Settings): PolicyOptions => ({
  ...defaultPolicy,
  acceptFingerprints: new Set(settings.SERVICE_ACCEPT_FINGERPRINTS?.map((text) => KeyFingerprint.make(text))),
  maxPendingAgents: settings.SERVICE_MAX_PENDING_AGENTS,
  staleAfter: settings.SERVICE_STALE_AFTER,
  deadAfter: settings.SERVICE_DEAD_AFTER,
})

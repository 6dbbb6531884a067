import { KeyFingerprint } from "@tocsin/core/contract/Identifiers"
import { defaultPolicy, type PolicyOptions } from "@tocsin/core/ports/Policy"
import type { NotifierKind } from "@tocsin/core/contract/Status"
import type { RetentionOptions } from "@tocsin/core/usecases/Housekeeping"
import { Duration } from "effect"
import { configuredKinds } from "./settings/contradictions.ts"
import type { Settings } from "./settings/Settings.ts"

/** The notifiers that are told: those that are named, or else all that there are settings for. */
export const enabledNotifiers = (values: Partial<Settings>): ReadonlyArray<NotifierKind> =>
  values.SERVICE_NOTIFIERS ?? Array.from(configuredKinds(values))

/** How long ended rows are kept. */
export const retentionOf = (settings: Settings): RetentionOptions => {
  const kept = (time: Duration.Duration) => (Duration.isFinite(time) ? time : undefined)
  return {
    history: kept(settings.SERVICE_RETENTION_HISTORY),
    incidents: kept(settings.SERVICE_RETENTION_INCIDENTS),
    outbox: kept(settings.SERVICE_RETENTION_OUTBOX),
    pending: kept(settings.SERVICE_RETENTION_PENDING),
  }
}

/** The policy that the settings ask for. */
export const policyOf = (settings: Settings): PolicyOptions => ({
  ...defaultPolicy,
  acceptFingerprints: new Set(settings.SERVICE_ACCEPT_FINGERPRINTS?.map((text) => KeyFingerprint.make(text))),
  notifiers: enabledNotifiers(settings),
  heartbeatRate: settings.SERVICE_HEARTBEAT_RATE,
  registrationRate: settings.SERVICE_REGISTRATION_RATE,
  maxPendingAgents: settings.SERVICE_MAX_PENDING_AGENTS,
  staleAfter: settings.SERVICE_STALE_AFTER,
  deadAfter: settings.SERVICE_DEAD_AFTER,
})
